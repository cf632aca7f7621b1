// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: makes `new` fail where the program itself asks for memory; libraries get theirs, for not all of them
// look. FAIL_AT=N: the Nth since the program has set its new_handler. FAIL_ON=1: all from there on. FAIL_COUNT=FILE:
// how many there were is written into the file.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <link.h>

namespace {

/// The addresses of the program's own code.
struct Program {
    Program() {
        ::dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* self) {
                auto& program = *static_cast<Program*>(self);
                for (int i = 0; i < object->dlpi_phnum; ++i) {
                    const auto& part = object->dlpi_phdr[i];
                    if (part.p_type != PT_LOAD) continue;
                    program.begin = std::min(program.begin, object->dlpi_addr + part.p_vaddr);
                    program.end = std::max(program.end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
                }
                return 1;  // the program is the first of all objects
            },
            this);
    }
    std::uintptr_t begin = UINTPTR_MAX, end = 0;
};

struct Plan {
    ~Plan() {
        if (!countFile) return;
        if (std::FILE* file = std::fopen(countFile, "w")) {
            std::fprintf(file, "%ld", count.load());
            std::fclose(file);
        }
    }
    const char* at = std::getenv("FAIL_AT");
    const char* countFile = std::getenv("FAIL_COUNT");
    const long failAt = at ? std::atol(at) : 0;
    const bool goesOn = std::getenv("FAIL_ON") != nullptr;
    std::atomic<long> count = 0;
};

bool fails(const void* caller) {
    static const Program program;
    static Plan plan;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    if (address < program.begin || address >= program.end || !std::get_new_handler()) return false;
    const long number = ++plan.count;
    return plan.failAt > 0 && (plan.goesOn ? number >= plan.failAt : number == plan.failAt);
}

void* allocate(std::size_t bytes, std::size_t alignment, bool failing) {
    void* memory = nullptr;
    if (!failing &&
        ::posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) == 0) {
        return memory;
    }
    if (const auto handler = std::get_new_handler()) handler();  // which throws
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes, 0, fails(__builtin_return_address(0)));
}
void* operator new[](std::size_t bytes) {
    return allocate(bytes, 0, fails(__builtin_return_address(0)));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, std::size_t(alignment), fails(__builtin_return_address(0)));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, std::size_t(alignment), fails(__builtin_return_address(0)));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
