// SPDX-License-Identifier: Apache-2.0
// A witness of every copy that a program makes between host and device, through CUPTI instead of the program's own
// counters. Built into a library that CUDA loads by itself; at the program's end the totals are printed.
//
//     g++ -std=c++20 -shared -fPIC -I$CUDA/include tests/gpu/copy_witness.cpp -o witness.so -L$CUDA/lib64 -lcupti
//     CUDA_INJECTION64_PATH=$PWD/witness.so matte --source test:person --frames 1000
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Total {
    std::atomic<std::uint64_t> copies = 0, bytes = 0;
};
Total up, down, onDevice, toArray;

void CUPTIAPI provideBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* mostRecords) {
    *size = std::size_t(1) << 20;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
    *mostRecords = 0;
}

Total* totalOf(std::uint8_t kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return &up;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return &down;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return &onDevice;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA: return &toArray;
        default: return nullptr;
    }
}

void CUPTIAPI readBuffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_MEMCPY) continue;
        const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
        if (Total* total = totalOf(copy->copyKind)) {
            ++total->copies;
            total->bytes += copy->bytes;
        }
    }
    std::free(buffer);
}

void testify() {
    cuptiActivityFlushAll(1);
    const auto print = [](const char* what, const Total& total) {
        std::fprintf(stderr, "witness: %-18s %8llu copies %14llu bytes\n", what,
                     static_cast<unsigned long long>(total.copies), static_cast<unsigned long long>(total.bytes));
    };
    print("host to device", up);
    print("device to host", down);
    print("device to device", onDevice);
    print("device to texture", toArray);
}

}  // namespace

/// Called by CUDA when it starts.
extern "C" int InitializeInjection() {
    cuptiActivityRegisterCallbacks(provideBuffer, readBuffer);
    if (cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS) {
        std::fprintf(stderr, "witness: CUPTI does not record copies here\n");
        return 1;
    }
    std::atexit(testify);
    return 1;
}
