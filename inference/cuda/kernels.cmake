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
list(FILTER kernels EXCLUDE REGEX "_sm90\\.cu$")
matte_kernels(matte_kernels ARCHITECTURES ${architectures} SOURCES ${kernels})
if(hopper)
  matte_kernels(matte_kernels_sm90 ARCHITECTURES 90a-real SOURCES cuda/conv_sm90.cu cuda/device_rates_sm90.cu)
  target_sources(matte_inference PRIVATE cuda/conv_sm90_launch.cpp)
  target_compile_definitions(matte_inference PRIVATE MATTE_HAVE_SM90=1)
else()
  target_sources(matte_inference PRIVATE cuda/conv_sm90_absent.cpp cuda/device_rates_absent.cpp)
endif()

target_sources(matte_inference PRIVATE
  cuda/conv.cpp
  cuda/conv_config.cpp
  cuda/conv_pack.cpp
  cuda/conv_sm90_config.cpp
  cuda/conv_tune.cpp
  cuda/cuda_cutout.cpp
  cuda/cuda_device.cpp
  cuda/cuda_engine.cpp
  cuda/cuda_network.cpp
  cuda/cuda_picture.cpp
  cuda/matting_pass.cpp
  cuda/network_bench.cpp
  cuda/page_locked.cpp
  cuda/pixels.cpp
  cuda/plate.cpp
  cuda/slot.cpp
  cuda/staged_copy.cpp
  cuda/tensor_map.cpp)
list(JOIN architectures ", " named)
target_compile_definitions(matte_inference PRIVATE MATTE_HAVE_CUDA=1 MATTE_CUDA_ARCHITECTURES="${named}")
target_link_libraries(matte_inference PRIVATE CUDA::cudart_static)

# Choices that were measured with other kernels than these are measured again.
file(GLOB tuned CONFIGURE_DEPENDS cuda/conv*.cu cuda/conv*.cpp cuda/*.cuh cuda/head.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tuned})
set(hashes "")
foreach(source IN LISTS tuned)
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 8 hash)
set_source_files_properties(cuda/conv_tune.cpp PROPERTIES COMPILE_DEFINITIONS MATTE_KERNEL_VERSION="${hash}")
