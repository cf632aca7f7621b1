# SPDX-License-Identifier: Apache-2.0
# matte_layer(NAME SOURCES... [PUBLIC LIBRARIES...] [PRIVATE LIBRARIES...]): the static library matte_NAME of the folder
# NAME. Who links it finds its headers as "PARENT/NAME/…", and those of what it links with PUBLIC. Nobody else does: an
# include against the direction of the layers fails to compile.
function(matte_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;PUBLIC;PRIVATE")
  set(target matte_${name})
  add_library(${target} STATIC ${layer_SOURCES})
  target_link_libraries(${target} PUBLIC matte_flags ${layer_PUBLIC} PRIVATE matte_product ${layer_PRIVATE})
  # Covered builds run the whole of the tests: here is where their time goes.
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${MATTE_COVERAGE}>>:-O2>)
  matte_headers(${target} PUBLIC)
endfunction()

# matte_headers(TARGET SCOPE): the current folder's headers, and no others, through a link to it in the build folder.
function(matte_headers target scope)
  set(root ${PROJECT_BINARY_DIR}/headers/${target})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  cmake_path(GET folder PARENT_PATH parent)  # empty for gui and interop
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC RESULT linked)
  if(NOT linked EQUAL 0)  # a system without links: everything is found, and another build holds the direction
    set(root ${PROJECT_SOURCE_DIR})
  endif()
  target_include_directories(${target} ${scope} ${root})
endfunction()
