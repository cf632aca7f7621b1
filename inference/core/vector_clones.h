// SPDX-License-Identifier: Apache-2.0
// Function multiversioning: a marked function is compiled for AVX-512, for AVX2 with FMA and for baseline x86-64, and
// the loader picks the best. Packages target baseline x86-64, whose loops would otherwise use only SSE2.
#pragma once

// Not with the thread sanitizer, which is not initialised yet when the loader picks.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define MATTE_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MATTE_VECTOR_CLONES
#endif

// A function marked so gives bit-identical results on every processor: neither SSE2 nor AVX2 without FMA fuses
// multiplications with additions.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define MATTE_EXACT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MATTE_EXACT_CLONES
#endif
