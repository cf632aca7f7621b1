#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# with_pipewire.sh COMMAND...: runs COMMAND beside PipeWire and WirePlumber of its own, in a runtime folder of its own, as
# a desktop has them. Exit status: COMMAND's, or 77 (skipped) with the reason when they can't be started.
set -u
skip() { echo "skipped: $1" && exit 77; }
for program in dbus-run-session pipewire wireplumber pw-cli; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done
if [ -z "${MATTE_TEST_BUS:-}" ]; then
    # Where no message bus can be started, nothing is said about cameras.
    dbus-run-session -- true 2>/dev/null || skip "no message bus can be started here"
    MATTE_TEST_BUS=1 exec dbus-run-session -- "$0" "$@"
fi
folder=$(mktemp -d) && chmod 700 "$folder"
export XDG_RUNTIME_DIR=$folder XDG_STATE_HOME=$folder XDG_CONFIG_HOME=$folder PIPEWIRE_RUNTIME_DIR=$folder
# Its Bluetooth part needs systemd's logind, without which WirePlumber ends.
mkdir -p "$folder/wireplumber/bluetooth.lua.d"
echo 'bluez_monitor.enabled = false' >"$folder/wireplumber/bluetooth.lua.d/51-off.lua"
daemons=()
finish() {
    kill "${daemons[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$folder"
}
trap finish EXIT
# waitFor WHAT...: up to 10 seconds, in steps of a tenth.
waitFor() {
    local i
    for ((i = 0; i < 100; ++i)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}
pipewire >"$folder/pipewire.log" 2>&1 &
daemons+=($!)
waitFor test -S "$folder/pipewire-0" || skip "PipeWire does not start: $(tail -n 1 "$folder/pipewire.log")"
wireplumber >"$folder/wireplumber.log" 2>&1 &
daemons+=($!)
hasSessionManager() { pw-cli ls Client | grep -q '"WirePlumber"'; }
waitFor hasSessionManager || skip "WirePlumber does not start: $(tail -n 1 "$folder/wireplumber.log")"
export MATTE_TEST_PIPEWIRE_PID=${daemons[0]} MATTE_TEST_WIREPLUMBER_PID=${daemons[1]}
"$@"
