#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -Eeuo pipefail

usage() {
    cat <<'TEXT'
packaging/try-package.sh

Builds the .deb and the .tar.gz (build/packaging/packages), installs the .deb in a bare root of this machine's own
distribution, made with debootstrap, and tries it there: matte-cli cuts out the sample portrait, and the window shows a
test person live, on the CPU and on a screen in memory (Xvfb, which is installed there for this).
Needs root; the bare root is a temporary folder and is removed. The whole output is kept in build/try-package.log.
TEXT
}
case ${1-} in
    -h | --help) usage && exit ;;
    ?*) echo "try-package.sh: it takes no arguments; see --help." >&2 && exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "try-package.sh: a bare root can only be made by root; run it with sudo." >&2 && exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. packaging/steps.sh
. packaging/dependencies.sh
startLog "$PWD/build/try-package.log"
. /etc/os-release

step "Looking for what the package needs from the distribution"
installPackages "${buildPackages[@]}" "${packagePackages[@]}"

step "Building the package"
configureAndBuild build/packaging --preset packaging
rm -rf build/packaging/packages
cpack --config build/packaging/CPackConfig.cmake >>"$log" 2>&1
package=$(ls build/packaging/packages/*.deb)
(cd build/packaging/packages && sha256sum --check ./*.sha256 >>"$log")
echo "    $package, $(($(stat -c %s "$package") / 1000000)) MB, needs: $(dpkg-deb -f "$package" Depends)"

step "Making a bare $PRETTY_NAME"
bare=$(mktemp -d)
removeBare() {
    if mountpoint -q "$bare/proc"; then umount "$bare/proc"; fi
    rm -rf --one-file-system "$bare"
}
trap removeBare EXIT
site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | head -n 1)
debootstrap --variant=minbase --components=main,universe "$VERSION_CODENAME" "$bare" "$site" >>"$log" 2>&1
mount -t proc proc "$bare/proc"

step "Installing it there"
cp "$package" "$bare/tmp/matte.deb"
inside() { chroot "$bare" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get install --quiet --yes --no-install-recommends /tmp/matte.deb >>"$log" 2>&1

step "Trying matte-cli there"
inside matte-cli --version
sample=/usr/share/matte/samples/astronaut.png
inside matte-cli image $sample -o /tmp/cutout.png --background transparent
inside matte-cli image $sample -o /tmp/matte.bmp --matte-only >>"$log"
file "$bare/tmp/cutout.png" | grep -q 'PNG image data, 512 x 512, 8-bit/color RGBA' || giveUp "The cut-out is not a picture of 512x512 with alpha: $(file "$bare/tmp/cutout.png")"
# An 8-bit BMP's pixels are its last 512 x 512 bytes: 0 is room, 255 is person.
read -r room person < <(tail -c $((512 * 512)) "$bare/tmp/matte.bmp" | od -An -v -tu1 -w1 |
    awk '$1 == 0 { room++ } $1 == 255 { person++ } END { print int(room / 2621.44), int(person / 2621.44) }')
((room >= 10 && person >= 20)) || giveUp "The matte makes no sense: $room % of it is room and $person % is person."
echo "    $room % of the matte is room, $person % is person"

step "Trying the window there"
# What a desktop has already: a display, and OpenGL by software.
inside apt-get install --quiet --yes --no-install-recommends xvfb xauth libgl1-mesa-dri >>"$log" 2>&1
inside matte --version
inside timeout 120 xvfb-run -a matte --engine cpu --source test:person:320x180 --frames 5 --stats /tmp/live.json >>"$log" 2>&1
shown=$(sed -n 's/^.*"presented": *\([0-9]*\).*$/\1/p' "$bare/tmp/live.json")
((${shown:-0} >= 5)) || giveUp "The window ended as if it had shown 5 frames, and its statistics say ${shown:-nothing}."
echo "    $shown frames of a test person were shown"
endStep
echo "Done. The package works in a bare $PRETTY_NAME: $package"
