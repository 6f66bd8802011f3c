# The page of `simulate --report`: web/ bundled by esbuild into a C++ file. Runs again when web/ changes, and npm only
# when web/package-lock.json does.

find_program(DAEDALUS_NODE NAMES node nodejs)
find_program(DAEDALUS_NPM NAMES npm)
if(NOT DAEDALUS_NODE OR NOT DAEDALUS_NPM)
  message(FATAL_ERROR
    "The page of `simulate --report` is built with Node.js 18 or newer and npm, and at least one of them is missing.\n"
    "Install both: apt-get install nodejs npm")
endif()

# Adds the sources of the page to a target.
function(daedalus_page target)
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(folder ${CMAKE_BINARY_DIR}/web)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  add_custom_command(
    OUTPUT ${folder}/installed.stamp
    COMMAND ${CMAKE_COMMAND} -E copy ${web}/package.json ${web}/package-lock.json ${folder}
    COMMAND ${DAEDALUS_NPM} ci --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/installed.stamp
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${folder}
    COMMENT "Installing esbuild, uPlot and three" VERBATIM)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/page_assets.cpp
    COMMAND ${DAEDALUS_NODE} ${web}/build.mjs ${folder} ${folder}/page_assets.cpp
    DEPENDS ${web}/build.mjs ${sources} ${folder}/installed.stamp
    COMMENT "Bundling the page" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/page_assets.cpp)
endfunction()
