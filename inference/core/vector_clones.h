// SPDX-License-Identifier: Apache-2.0
// A function so marked is compiled for AVX-512, for AVX2 with FMA and for the plain processor, and the program takes
// the best at its start. Packages are built for any x86-64 processor, and a plain loop would get its vectors of 1999.
#pragma once

// The thread sanitizer is not up yet when the program chooses.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define MATTE_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MATTE_VECTOR_CLONES
#endif

// So marked it gives the same bits on every processor: the plain one is SSE2, and AVX2 alone fuses no multiplication
// with an addition.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define MATTE_EXACT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MATTE_EXACT_CLONES
#endif
