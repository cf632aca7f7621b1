#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Not part of a full run. The network on the CPU at every input from 64 to 768 pixels a side in steps of 32 (64 where the
# model wants that), in each precision and with each instruction set that the processor has, under glibc's checks of the
# heap. oneDNN's generated kernels are what this looks at: processors with AMX have some of their own.
. "$(dirname "$0")/check.sh"
buildForTests
export MATTE_EVERY_SIZE=1 MALLOC_CHECK_=3
sets=(AVX2)
has() { grep -qw "$1" /proc/cpuinfo; }
if has avx512bw; then sets+=(AVX512_CORE); fi
if has avx512_bf16; then sets+=(AVX512_CORE_BF16); fi
if has amx_bf16; then sets+=(AVX512_CORE_AMX); fi
for set in "${sets[@]}"; do
    if ONEDNN_MAX_CPU_ISA=$set timeout 3000 build/tests/tests/matte_tests --gtest_filter='*NetworkSizes*' >"$log.$set" 2>&1; then
        count passed
    else
        echo "    FAILED: $set; all of it is in $log.$set"
        grep -E 'x[0-9]+$|beyond|Failure' "$log.$set" | head -n 20 | sed 's/^/        /'
        count failed
    fi
done
closeCheck
