# SPDX-License-Identifier: Apache-2.0
# The CUDA engine. Every kernel but one is compiled for each architecture in CMAKE_CUDA_ARCHITECTURES; the one that uses
# wgmma and TMA exists for sm_90a alone and is left out unless 90 is among them.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know that nvcc has it
endif()

set(architectures ${CMAKE_CUDA_ARCHITECTURES})
if(architectures STREQUAL "native")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
endif()
set(hopper ${architectures})
list(FILTER hopper INCLUDE REGEX "^90")
list(TRANSFORM architectures REPLACE "^90a" "90")  # sm_90a code runs where sm_90 code does, and only that kernel needs it
list(REMOVE_DUPLICATES architectures)

# matte_kernels(NAME ARCHITECTURES... SOURCES...): CUDA sources as part of matte_inference.
function(matte_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "" "" "ARCHITECTURES;SOURCES")
  add_library(${name} OBJECT ${kernels_SOURCES})
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${kernels_ARCHITECTURES}")
  target_link_libraries(${name} PRIVATE matte_flags)
  target_compile_options(${name} PRIVATE --expt-relaxed-constexpr)
  target_sources(matte_inference PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

file(GLOB kernels CONFIGURE_DEPENDS cuda/*.cu)
list(FILTER kernels EXCLUDE REGEX "/conv_sm90\\.cu$")
matte_kernels(matte_kernels ARCHITECTURES ${architectures} SOURCES ${kernels})
if(hopper)
  matte_kernels(matte_kernels_sm90 ARCHITECTURES 90a-real SOURCES cuda/conv_sm90.cu)
  target_compile_definitions(matte_inference PRIVATE MATTE_HAVE_SM90=1)
else()
  target_sources(matte_inference PRIVATE cuda/conv_sm90_absent.cpp)
endif()

target_sources(matte_inference PRIVATE
  cuda/conv.cpp
  cuda/conv_config.cpp
  cuda/conv_pack.cpp
  cuda/cuda_cutout.cpp
  cuda/cuda_engine.cpp
  cuda/cuda_network.cpp
  cuda/pixels.cpp
  cuda/plate.cpp
  cuda/tensor_map.cpp
  cuda/transfer.cpp)
list(JOIN architectures ", " named)
target_compile_definitions(matte_inference PRIVATE MATTE_HAVE_CUDA=1 MATTE_CUDA_ARCHITECTURES="${named}")
target_link_libraries(matte_inference PRIVATE CUDA::cudart_static)
