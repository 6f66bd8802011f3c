# Compiler settings that hold everywhere: warnings are errors, ccache and mold where present.

add_library(daedalus_settings INTERFACE)
target_compile_options(daedalus_settings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)
# GCC 12 sees overlaps and overflows in std::string and fmt at -O3 where there are none (GCC bugs 105651, 105329).
target_compile_options(daedalus_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow>)
# One rounding per operation, so that the same run is the same to the last bit whatever the inliner does.
target_compile_options(daedalus_settings INTERFACE -ffp-contract=off)

if(DAEDALUS_SANITIZE)
  # Catches an index behind the end of a vector that is still inside its memory, which the sanitizers do not see.
  target_compile_definitions(daedalus_settings INTERFACE _GLIBCXX_ASSERTIONS)
  # With fuzzers the same objects count the branches that an input takes: one build serves tests and fuzzers.
  target_compile_options(daedalus_settings INTERFACE -fsanitize=address,undefined$<$<BOOL:${DAEDALUS_FUZZ}>:,fuzzer-no-link>
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(daedalus_settings INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Writes the table of all entries of a folder such as `methods/`: file x_y.cpp must define <kind>_x_y().
function(daedalus_table target kind namespace type folder entries)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${entries}/*.cpp)
  # By name, in which `-` stands for `_`: rk3-family comes before rk38.
  list(TRANSFORM sources REPLACE ".*/([^/]*)[.]cpp$" "\\1")
  list(TRANSFORM sources REPLACE "_" "-")
  list(SORT sources)
  set(declarations "")
  set(calls "")
  foreach(name ${sources})
    string(REPLACE "-" "_" stem ${name})
    string(APPEND declarations "${type} ${kind}_${stem}();\n")
    string(APPEND calls "      ${kind}_${stem}(),\n")
  endforeach()
  set(KIND ${kind})
  set(NAMESPACE ${namespace})
  set(TYPE ${type})
  set(FOLDER ${folder})
  set(ENTRIES ${entries})
  set(DECLARATIONS ${declarations})
  set(CALLS ${calls})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/table.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${kind}_table.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${kind}_table.cpp)
endfunction()

# Puts the texts of the models into a target, which then needs no file to run them.
function(daedalus_shipped_models target)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*.toml)
  set(models "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND models "      {\"${name}\", R\"toml(${text})toml\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(MODELS "${models}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/models.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/shipped_models.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/shipped_models.cpp)
endfunction()
