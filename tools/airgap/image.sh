# shellcheck shell=bash
# Builds the image: a Debian root with Bazel, compilers, Python and PyTorch, and the crate generator of its rules_rust.
# Its name carries a hash of this file and packages.txt. It appears under that name complete, or not at all.

suite=forky

ensure_image() {
  [ -d "$image" ] || with_lock "$cache/image.lock" "building the image" build_image
}

build_image() {
  [ ! -d "$image" ] || return 0
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "the air-gapped image exists for Linux on x86-64 only, this is $(uname -sm)" \
    "install bazelisk and set DATASET_RT_BAZEL=host"
  [ "$(id -u)" = 0 ] || fail "building the air-gapped image needs root" "run once as root, or install bazelisk and set DATASET_RT_BAZEL=host"
  local mirror log=$cache/image-$recipe.log root=$image.tmp started=$SECONDS
  mirror=$(debian_mirror)
  : >"$log"
  rm -rf --one-file-system "$root"
  say "no Bazel here and no registry in reach: building an image from Debian's packages, once, in about six minutes"
  say "mirror $mirror, log $log"
  step "1/5 debootstrap" "$log" need_debootstrap
  check_mirror "$mirror"
  step "2/5 base system" "$log" base_system "$root" "$mirror" ||
    { drop "$root"; fail "debootstrap could not make a root of $suite from $mirror"; }
  apt_settings >"$root/etc/apt/apt.conf.d/80machine"
  copy_certificates "$root"
  step "3/5 packages" "$log" enter "$root" bash -euc "$(install_script)" ||
    { drop "$root"; fail "apt could not install the image's packages from $mirror" "$(missing_packages "$log")"; }
  step "4/5 crate generator" "$log" enter "$root" bash -euc "$(generator_script)" ||
    { drop "$root"; fail "the crate generator did not build" "it takes its crates from the registry that cargo is set up with: is that in reach?"; }
  step "5/5 record" "$log" enter "$root" bash -euc "$(record_script)"
  cp "$root/opt/packages.txt" "$image.packages.txt"
  echo "$recipe" >"$root/opt/recipe"
  mv -T "$root" "$image"
  say "image ready after $((SECONDS - started)) s: $image (package versions in $image.packages.txt)"
}

# The first stage unpacks; the second runs inside, with a dpkg that does not sync each file: a root that breaks off is thrown away.
base_system() {
  debootstrap --variant=minbase --foreign "$suite" "$1" "$2"
  mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
  printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/man/*' 'path-exclude=/usr/share/doc/*' >"$1/etc/dpkg/dpkg.cfg.d/image"
  unshare --mount --propagation private chroot "$1" /debootstrap/debootstrap --second-stage
}

drop() { rm -rf --one-file-system "$1"; }

need_debootstrap() {
  command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap; } ||
    fail "debootstrap is not installed and apt could not install it"
  # an older debootstrap does not know the name of the next release; its script is that of sid
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s sid "/usr/share/debootstrap/scripts/$suite"
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

install_script() {
  cat <<EOF
export DEBIAN_FRONTEND=noninteractive
apt-get update
# twice: hundreds of packages through a mirror that may lose a connection, or hand out half a file, once
for attempt in first second; do
  echo "\$attempt attempt"
  if apt-get install -y --no-install-recommends --fix-broken $(grep -v '^#' "$tools/airgap/packages.txt" | tr '\n' ' '); then break; fi
  [ \$attempt = first ]
done
update-ca-certificates
EOF
}

# Versions of all packages; and of Debian's rc file only where its Bazel is installed: modules.sh says what replaces what.
record_script() {
  cat <<'EOF'
dpkg-query --show >/opt/packages.txt
sed -i '/^startup/!d' /etc/bazel/bazelrc
apt-get clean
rm -rf /var/lib/apt/lists/*
EOF
}

# The generator that belongs to the image's rules_rust. Unoptimised: it runs for seconds and builds for minutes.
generator_script() {
  cat <<'EOF'
cp -rL /usr/share/bazel/rules/rust/crate_universe /opt/crate-generator
cd /opt/crate-generator
trap 'rm -rf /opt/crate-generator' EXIT
export CARGO_HOME=/opt/generator-cargo CARGO_TARGET_DIR=/opt/crate-generator/target CARGO_PROFILE_RELEASE_OPT_LEVEL=0
cargo build --release --locked --bin cargo-bazel
mv target/release/cargo-bazel /opt/cargo-bazel
rm -rf /opt/generator-cargo
EOF
}
