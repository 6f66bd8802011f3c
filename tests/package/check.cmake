# Installs into a folder of its own, builds the consumer project there with find_package(daedalus) and runs it and the
# installed program. Called with BUILD (folder), SOURCE, GENERATOR, COMPILER.
set(work ${BUILD}/package-test)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(must_run result)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexit status ${status}\n${out}\n${err}")
  endif()
  set(${result} "${out}" PARENT_SCOPE)
endfunction()

function(must_match text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern} in:\n${text}")
  endif()
endfunction()

must_run(out ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
file(COPY ${SOURCE}/tests/package/consumer DESTINATION ${work})
must_run(out ${CMAKE_COMMAND} -S consumer -B consumer-build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${work}/prefix)
must_run(out ${CMAKE_COMMAND} --build consumer-build)
must_run(out ${work}/consumer-build/consumer)
# The projection keeps the rod to round-off, so that nine decimals are exact.
must_match("${out}" "^length at t = 10: 1\\.000000000\n$")

# A newer minor version is refused.
file(WRITE ${work}/newer/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(newer CXX)\nfind_package(daedalus 99.0 REQUIRED)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S newer -B newer-build -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${work}/prefix
  WORKING_DIRECTORY ${work} OUTPUT_QUIET ERROR_VARIABLE err RESULT_VARIABLE status)
if(status EQUAL 0)
  message(FATAL_ERROR "find_package(daedalus 99.0) found version ${err}")
endif()

must_run(out ${work}/prefix/bin/daedalus --version)
must_match("${out}" "daedalus [0-9]+\\.[0-9]+\\.[0-9]+\ncommit +(unknown|[0-9a-f]+)\nbuilt .*fmt [0-9]+.*KLU [0-9]")
must_run(out ${work}/prefix/bin/daedalus simulate prefix/share/daedalus/models/pendulum.toml --plot pendulum.svg)

# Nothing that was installed names the folders it was built in.
file(GLOB_RECURSE texts ${work}/prefix/*.cmake ${work}/prefix/*.hpp ${work}/prefix/*.1)
foreach(text ${texts})
  file(STRINGS ${text} found REGEX "${SOURCE}/|${BUILD}/")
  if(found)
    message(FATAL_ERROR "${text} names a folder of the build: ${found}")
  endif()
endforeach()

file(GLOB_RECURSE page ${work}/prefix/*/daedalus.1)
file(STRINGS "${page}" unfilled REGEX "@[A-Z_]+@")
if(NOT page OR unfilled)
  message(FATAL_ERROR "man page: ${page} ${unfilled}")
endif()
find_program(BASH bash)
if(BASH)
  # The script completes the words it is called with, the last of them being typed.
  file(WRITE ${work}/complete.sh "PATH=${work}/prefix/bin:$PATH\n. ${work}/prefix/share/bash-completion/completions/daedalus\n"
    "COMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_daedalus\necho \${COMPREPLY[*]}\n")
  must_run(out ${BASH} complete.sh daedalus sim)
  must_match("${out}" "^simulate\n$")
  must_run(out ${BASH} complete.sh daedalus simulate m.toml --pl)
  must_match("${out}" "^--plot\n$")
  must_run(out ${BASH} complete.sh daedalus simulate m.toml --method dop8)
  must_match("${out}" "^dop853\n$")
  must_run(out ${BASH} complete.sh daedalus reproduce 001-table1)
  must_match("${out}" "^001-table1\n$")
  must_run(out ${BASH} complete.sh daedalus derive m.toml --format la)
  must_match("${out}" "^latex\n$")
endif()
file(REMOVE_RECURSE ${work})
