#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Not part of a full run. ThreadSanitizer over what has several threads: the live pipeline, sources, cameras, the
# implementation switch, the loops of the pool. The baselines' loops run on one thread, for the library behind OpenMP tells
# ThreadSanitizer nothing of its barriers.
. "$(dirname "$0")/check.sh"
configureAndBuild build/threads -DCMAKE_BUILD_TYPE=Debug -DMATTE_SANITIZE=thread -DMATTE_GUI=OFF -DMATTE_CUDA=OFF \
    --target=matte_tests
threaded=Live.*:Capturing.*:VideoExportTest.*:Live*:PrivacyPlaceholder.*:Mailbox.*:Trace.*:Recent.*:Detached.*:DeviceWatch.*:ResumingSource.*:LoopingVideo.*:Moving*
threaded+=:ImplementationSwitching.*:TestSource.*:FramePool.*:BufferPool*:CameraReader.*:VideoSource.*:FolderSource.*:OpenSource.*
threaded+=:Parallel.*:CpuNetwork.*:LiveQueue*:FailoverPhotoEngine.*:H264*:LoopbackCamera.*
report=build/threads/tests.txt
status=0
OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 TSAN_OPTIONS=halt_on_error=0:suppressions=$PWD/tests/checks/races.txt timeout 900 \
    build/threads/tests/matte_tests --gtest_filter="$threaded" >"$report" 2>&1 || status=$?
count passed "$(grep -c '^\[       OK \] ' "$report" || true)"
count skipped "$(grep -cE '^\[  SKIPPED \] .*\([0-9]+ ms\)$' "$report" || true)"
races=$(grep -c '^WARNING: ThreadSanitizer' "$report" || true)
bad=$(grep -cE '^\[  FAILED  \] .*\([0-9]+ ms\)$' "$report" || true)
if [ "$status" != 0 ] && [ $((bad + races)) = 0 ]; then bad=1; fi
if [ $((bad + races)) != 0 ]; then
    echo "    FAILED: $bad tests, $races races; all of it is in $report"
    grep -E '^SUMMARY|^\[  FAILED  \] .* ms\)$' "$report" | sort | uniq -c | sed 's/^/        /' | head -n 20
    tail -n 3 "$report" | sed 's/^/        /'
fi
count failed $((bad + races))
closeCheck
