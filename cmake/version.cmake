# What `daedalus --version` names: the commit that was configured and the versions of the libraries built in.
set(DAEDALUS_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0)
    set(DAEDALUS_COMMIT ${commit})
  endif()
endif()

# Joins the numbers of the given macros of a header with dots.
function(daedalus_header_version result header)
  set(numbers "")
  foreach(macro ${ARGN})
    file(STRINGS ${header} line REGEX "^#define +${macro} +[0-9]+")
    string(REGEX REPLACE "^#define +${macro} +([0-9]+).*" "\\1" number "${line}")
    list(APPEND numbers ${number})
  endforeach()
  list(JOIN numbers . joined)
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()
daedalus_header_version(KLU_VERSION ${KLU_INCLUDE_DIR}/klu.h KLU_MAIN_VERSION KLU_SUB_VERSION KLU_SUBSUB_VERSION)
daedalus_header_version(TOMLPLUSPLUS_VERSION ${TOMLPLUSPLUS_INCLUDE_DIR}/toml++/impl/version.h
  TOML_LIB_MAJOR TOML_LIB_MINOR TOML_LIB_PATCH)

daedalus_header_version(HDF5_VERSION ${HDF5Serial_INCLUDE_DIR}/H5public.h H5_VERS_MAJOR H5_VERS_MINOR H5_VERS_RELEASE)

set(DAEDALUS_DEPENDENCIES "")
foreach(pair "fmt ${fmt_VERSION}" "Eigen ${Eigen3_VERSION}" "KLU ${KLU_VERSION}" "toml++ ${TOMLPLUSPLUS_VERSION}"
    "nlohmann-json ${nlohmann_json_VERSION}" "CLI11 ${CLI11_VERSION}" "HDF5 ${HDF5_VERSION}")
  if(pair MATCHES " [0-9]")
    list(APPEND DAEDALUS_DEPENDENCIES "${pair}")
  endif()
endforeach()
list(JOIN DAEDALUS_DEPENDENCIES ", " DAEDALUS_DEPENDENCIES)
