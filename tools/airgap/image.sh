# shellcheck shell=bash
# Builds the image of recipe.sh. It appears under its name complete, or not at all.

needed_mb=6000

image_is_whole() { [ "$(cat "$image/opt/recipe" 2>/dev/null)" = "$recipe" ]; }

ensure_image() {
  image_is_whole || with_lock "$cache/image.lock" "building the image" build_image_alone
}

# A launcher that is killed takes all of its build with it, and until the last of it is gone the lock is held.
build_image_alone() {
  ! image_is_whole || return 0
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "the air-gapped image exists for Linux on x86-64 only, this is $(uname -sm)" \
    "install bazelisk and set DATASET_RT_BAZEL=host"
  need_owners
  need_debootstrap
  need_space
  in_own_processes env "launcher_user=$user" bash "$tools/airgap/build.sh"
}

build_image() {
  local mirror log=$cache/image-$recipe.log root=$image.tmp started=$SECONDS old
  mirror=$(debian_mirror)
  : >"$log"
  for old in "$cache"/bazel-image-*.tmp "$image"; do drop "$old"; done
  say "no Bazel here and no registry in reach: building an image from Debian's packages, once, in about six minutes"
  say "mirror $mirror, log $log"
  check_mirror "$mirror"
  mkdir -p "$root"
  build_step "1/4 base system" base_system "$root" "$mirror" ||
    give_up "$root" "debootstrap could not make a root of $suite from $mirror"
  apt_settings >"$root/etc/apt/apt.conf.d/80machine"
  copy_certificates "$root"
  build_step "2/4 packages" enter "$root" bash -euc "$(install_script)" ||
    give_up "$root" "apt could not install the image's packages from $mirror" "$(missing_packages "$log")"
  build_step "3/4 crate generator" enter "$root" bash -euc "$(generator_script)" ||
    give_up "$root" "the crate generator did not build" "it takes its crates from the registry that cargo is set up with: is that in reach?"
  build_step "4/4 record" enter "$root" bash -euc "$(record_script)" || give_up "$root" "the image could not be finished"
  cp "$root/opt/packages.txt" "$image.packages.txt"
  # in a user namespace root is the user, who can then enter and delete the image as it is
  chown -hR 0:0 "$root"
  echo "$recipe" >"$root/opt/recipe"
  # on the disk before it has its name: after a power cut a name stands for a whole image, too
  sync --file-system "$root"
  mv -T "$root" "$image"
  say "image ready after $((SECONDS - started)) s: $image (package versions in $image.packages.txt)"
  for old in "$cache"/bazel-image-*/; do
    [ "$old" = "$image/" ] || say "an image of another recipe is there; if no checkout needs it, delete ${old%/}"
  done
}

# uses the log of build_image
build_step() { step "$1" "$log" "${@:2}"; }

# give_up ROOT MESSAGE [HINT]
give_up() {
  drop "$1"
  shift
  if grep -qs 'No space left on device' "$log"; then set -- "$1" "the disk is full: $cache needs $needed_mb MB while the image is built"; fi
  fail "$@"
}

drop() { rm -rf --one-file-system "$1"; }

need_debootstrap() {
  command -v debootstrap >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing debootstrap"
    { apt-get update -qq && apt-get install -y -qq debootstrap; } >&2 </dev/null && return
  fi
  fail "debootstrap is not installed, and nothing else makes the image" \
    "as root: apt-get install debootstrap; or install bazelisk and set DATASET_RT_BAZEL=host"
}

need_space() {
  local free_mb
  free_mb=$(df --output=avail --block-size=1M "$cache" | tail -n 1 | tr -d ' ')
  [ "$free_mb" -ge "$needed_mb" ] || fail "the image needs $needed_mb MB while it is built, and $cache has $free_mb MB free" \
    "make room, or set XDG_CACHE_HOME to a directory on another disk"
}

check_mirror() {
  command -v curl >/dev/null || return 0
  curl --silent --fail --location --max-time 30 --output /dev/null "$1/dists/$suite/Release" ||
    fail "the Debian mirror $1 does not deliver the suite $suite" "another mirror can be given as DATASET_RT_DEBIAN_MIRROR"
}

# What apt said it could not find, in one line.
missing_packages() {
  local lines
  lines=$(grep -E '^E: (Unable to locate package|Package .* has no installation candidate|Failed to fetch)' "$1" | sort -u | head -n 5 | tr '\n' ' ')
  printf '%s\n' "${lines:-see the log}"
}
