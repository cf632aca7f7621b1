# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# What Matte needs from Debian 12 or Ubuntu 24.04, in one place, and how it gets installed. Sourced after steps.sh by
# quickstart.sh, try-package.sh and tests/run.sh.

# OpenCV in its small packages: libopencv-dev would bring VTK and Qt 5 with it.
buildPackages=(g++ cmake ninja-build pkg-config libdnnl-dev libopencv-core-dev libopencv-imgproc-dev
    libavfilter-dev libavformat-dev libavcodec-dev libavutil-dev libswscale-dev
    libpipewire-0.3-dev libdbus-1-dev libvips-dev libjpeg-dev liblcms2-dev nlohmann-json3-dev
    libcli11-dev qt6-base-dev libglew-dev)
windowPackages=(libgl1-mesa-dri qt6-wayland fonts-dejavu-core)
# clang 14 is in both distributions; another clang-format would format otherwise.
testPackages=(libgtest-dev libbenchmark-dev libopencv-imgcodecs-dev libopencv-videoio-dev clang-14 clang-format-14 clang-tidy-14
    libclang-rt-14-dev libomp-14-dev gcovr xvfb xauth libgl1-mesa-dri pipewire pipewire-bin wireplumber dbus-daemon python3-dbus python3-gi
    gstreamer1.0-tools gstreamer1.0-pipewire gstreamer1.0-plugins-base)
packagePackages=(dpkg-dev file debootstrap)
# Ubuntu has the first in qt6-base-dev. PyTorch, for the trainer's tests, is Debian's; elsewhere they run if there is one.
case $(. /etc/os-release 2>/dev/null && echo "${ID-} ${VERSION_ID-}") in
    'debian 12')
        buildPackages+=(libqt6opengl6-dev)
        testPackages+=(python3-torch python3-pil)
        ;;
esac

# nvcc where its own installer puts it, outside the PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then PATH=$PATH:/usr/local/cuda/bin; fi

# missingPackages PACKAGE...: those that are not installed, one a line.
missingPackages() {
    comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' | sed -n 's/ installed$//p' | sort -u)
}

# apt-get without questions, its noise in the log and its progress shown.
aptGet() {
    local asRoot=() status=0 kind percent
    [ "$(id -u)" = 0 ] || asRoot=(sudo)
    "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=300 \
        --quiet --yes --no-install-recommends "$@" 3>&1 >>"$log" 2>&1 </dev/null |
        while IFS=: read -r kind _ percent _; do
            case $kind in
                dlstatus) showProgress downloading "${percent%.*}" ;;
                pmstatus) showProgress installing "${percent%.*}" ;;
            esac
        done || status=$?
    endProgress
    return $status
}

# installPackages PACKAGE...: installs what is missing, and says what. Quick when nothing is.
installPackages() {
    local missing
    command -v apt-get >/dev/null || giveUp "This is neither Debian nor Ubuntu. Install the like of these yourself: $*"
    mapfile -t missing < <(missingPackages "$@")
    if [ ${#missing[@]} = 0 ]; then
        echo "    nothing is missing"
        return
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        giveUp "Installing needs root, and there is no sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
    fi
    echo "    installing, with what they need: ${missing[*]}"
    # The package lists are fetched only where there are none, or where they name files that are gone.
    if [ -z "$(apt-cache madison "${missing[0]}" 2>>"$log")" ] || ! aptGet install "${missing[@]}"; then
        aptGet update
        aptGet install "${missing[@]}"
    fi
}
