#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every Python file of ours passes ruff's rules and is formatted, as .ruff.toml says. To mend: ruff check --fix FILE and
# ruff format FILE. Skipped where ruff is missing: neither Debian 12 nor Ubuntu 24.04 has a package of it.
. "$(dirname "$0")/check.sh"
if ! command -v ruff >/dev/null; then
    echo "    skipped, for ruff is not installed: pip install ruff, in a virtual environment whose programs are in the PATH"
    count skipped
    closeCheck
    exit
fi
mapfile -t files < <(git ls-files '*.py')
runRuff() { # runRuff COMMAND [OPTION...]: one pass or failure, and what was found
    if ruff "$@" --no-cache --quiet "${files[@]}" >"$log.found" 2>&1; then
        count passed
    else
        echo "    FAILED: ruff $*"
        sed 's/^/        /' "$log.found" | tee -a "$log"
        count failed
    fi
}
runRuff check --output-format concise
runRuff format --check
closeCheck
