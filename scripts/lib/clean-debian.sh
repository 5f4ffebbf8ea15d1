# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clean Debian of this machine's release in its own folder, for a new user's steps. Source it in a
# script that first calls
#
#   in_own_mounts "$0" "$@"   starts the script again in its own mount namespace; needs root
#   make_debian               creates the Debian in $root, which is deleted when the script ends
#
# and then, any number of times,
#
#   step NAME COMMAND...      runs a command and prints its time; if it fails, prints its output and
#                             ends the script
#   there COMMAND             runs a line of bash in the new Debian, in /root

in_own_mounts() {
    ((EUID == 0)) || { echo "${1##*/}: only root may make a root of its own" >&2 && exit 2; }
    [[ -n ${PI_OWN_MOUNTS-} ]] || PI_OWN_MOUNTS=1 exec unshare --mount --propagation private "$@"
}

step() {
    local begin=$SECONDS
    if ! "${@:2}" >"$root.log" 2>&1; then
        cat "$root.log"
        echo "FAILED: $1" >&2
        exit 1
    fi
    printf '%4d s  %s\n' $((SECONDS - begin)) "$1"
}

there() { chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
    DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "cd /root; $*"; }

make_debian() {
    command -v debootstrap >/dev/null || apt-get -qq -y install --no-install-recommends debootstrap
    root=$(mktemp -d)
    trap 'umount -R "$root/proc" "$root/sys" "$root/dev" 2>/dev/null || true
        rm -rf --one-file-system "$root" "$root.log"' EXIT
    local mirror
    . /etc/os-release
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" \
        "Label: Debian" | head -n 1)
    step "a clean Debian $VERSION_CODENAME" debootstrap --variant=minbase "$VERSION_CODENAME" \
        "$root" "$mirror"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys" # where drivers find the machine
    mount --rbind /dev "$root/dev"
    # Packages come from this machine's sources.
    rm "$root/etc/apt/sources.list"
    cp -r /etc/apt/. "$root/etc/apt/"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
}
