#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each libFuzzer target for FUZZ_SECONDS (60) from the committed corpus, with AddressSanitizer and UBSan. What it finds is
# left in build/fuzz/found: mend it and commit the file to tests/fuzz/corpus.
. "$(dirname "$0")/check.sh"
targets=(safetensors picture background)
configureAndBuild build/fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++-14 -DMATTE_FUZZ=ON \
    -DMATTE_SANITIZE=address,undefined -DMATTE_GUI=OFF -DMATTE_CUDA=OFF -DMATTE_TESTS=OFF "${targets[@]/#/--target=fuzz_}"

fuzz() { # fuzz TARGET: status 0 when nothing was found
    mkdir -p "build/fuzz/corpus/$1" build/fuzz/found
    "build/fuzz/tests/fuzz/fuzz_$1" "build/fuzz/corpus/$1" "tests/fuzz/corpus/$1" -max_total_time="${FUZZ_SECONDS:-60}" \
        -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$1-" >"build/fuzz/$1.log" 2>&1
}
declare -A running
for target in "${targets[@]}"; do
    fuzz "$target" &
    running[$target]=$!
done
for target in "${targets[@]}"; do
    if wait "${running[$target]}"; then
        echo "    $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log") inputs, nothing found"
        count passed
    else
        echo "    FAILED: $target"
        tail -n 40 "build/fuzz/$target.log" | sed 's/^/        /'
        count failed
    fi
done
closeCheck
