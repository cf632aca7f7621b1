#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What users run: an optimised build of everything with warnings as errors, and every test, the window's under Xvfb.
# CUDA code, where nvcc is, for one architecture.
. "$(dirname "$0")/check.sh"
buildForTests
runGoogleTests build/tests/tests/matte_tests
runTests build/tests --label-exclude unit
closeCheck
