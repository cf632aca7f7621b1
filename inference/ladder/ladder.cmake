# SPDX-License-Identifier: Apache-2.0
# The ladder: part of the inference library, and only code in it until a method is chosen.
target_sources(matte_inference PRIVATE
  ladder/bottleneck_cpu.cpp
  ladder/cpu_im2col.cpp
  ladder/cpu_onednn.cpp
  ladder/cpu_parallel.cpp
  ladder/cpu_sequential.cpp
  ladder/difference.cpp
  ladder/lab_conv.cpp
  ladder/lab_layers.cpp
  ladder/lab_measure.cpp
  ladder/lab_network.cpp
  ladder/lab_single.cpp
  ladder/lab_table.cpp
  ladder/layered_network.cpp
  ladder/limits.cpp
  ladder/memory.cpp
  ladder/method.cpp
  ladder/model.cpp
  ladder/separate.cpp
  ladder/stencil_cpu.cpp
  ladder/xnor_cpu.cpp
  ladder/live/input_choice.cpp
  ladder/live/method_network.cpp
  ladder/live/method_switch.cpp
  ladder/live/switching_engine.cpp
  ladder/ops/digits.cpp
  ladder/ops/ops.cpp)
if(MATTE_HAVE_CUDA)
  file(GLOB rungs CONFIGURE_DEPENDS ladder/*.cu ladder/ops/*.cu)
  matte_kernels(matte_ladder ARCHITECTURES ${architectures} SOURCES ${rungs})
  target_sources(matte_inference PRIVATE ladder/cudnn.cpp ladder/cudnn_library.cpp ladder/device_limits.cpp ladder/device_memory.cpp)
  target_link_libraries(matte_inference PRIVATE ${CMAKE_DL_LIBS})
else()
  target_sources(matte_inference PRIVATE ladder/gpu_absent.cpp)
endif()
