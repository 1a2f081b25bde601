# Shell functions for test/fresh: a minimal Debian in a folder, and commands of an ordinary user in it. Sourced by `run` and `packages`.
# shellcheck shell=bash

[[ $(id -u) == 0 ]] || { echo "A fresh system can be made by root only: 0 checks ran." >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "debootstrap is not installed: 0 checks ran." >&2; exit 2; }

# The release and the mirror of this machine's apt.
mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
    awk -F'|' '$1 == "Debian" && $2 !~ /-/ { print $2, $3; exit }'
}

# make_root ROOT: makes the system unless it is there, with a user `person`, and mounts what its programs need until this script ends.
make_root() {
  local root=$1 codename address tool
  if [[ ! -e $root/made ]]; then
    read -r codename address < <(mirror)
    [[ -n ${codename:-} ]] || { echo "apt names no mirror of Debian: 0 checks ran." >&2; exit 2; }
    rm -rf "$root"
    mkdir -p "$(dirname "$root")"
    echo "Making a minimal Debian $codename…"
    debootstrap --variant=minbase --include=ca-certificates "$codename" "$root" "$address" >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 2; }
    chroot "$root" useradd --create-home --shell /bin/sh person
    # minbase has neither procps nor git; whatever this release adds is taken away.
    for tool in cc gcc c++ make python3 git curl wget ps chromium Xvfb; do
      ! chroot "$root" sh -c "command -v $tool" >/dev/null || { echo "The fresh system has $tool." >&2; exit 2; }
    done
    touch "$root/made"
  fi
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp /etc/hosts "$root/etc/hosts"
  # The certificates of this machine, which may include its own.
  mkdir -p "$root/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  # As a slave, so that unmounting it leaves the folders of this machine mounted.
  mountpoint -q "$root/dev" || { mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"; }
  # shellcheck disable=SC2064
  trap "umount -l '$root/proc' '$root/dev'" EXIT
}

passed=0
failed=0
# check WHAT CODE: counts the check, and prints whether it passed.
check() {
  if [[ $2 == 0 ]]; then
    passed=$((passed + 1))
    echo "  ✓ $1"
  else
    failed=$((failed + 1))
    echo "  × $1"
  fi
}
