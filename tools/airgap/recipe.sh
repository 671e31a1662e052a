# shellcheck shell=bash
# What is in the image: a Debian root with Bazel, compilers, Python and PyTorch, and the crate generator of its rules_rust.
# The image's name carries a hash of this file and packages.txt, so how it is built and entered stands elsewhere.

suite=forky

# The first stage unpacks; the second runs inside, with a dpkg that does not sync each file: a root that breaks off is thrown away.
base_system() {
  # sid's script: an older debootstrap does not know the name of the next release. lxc: device files are then not insisted on,
  # which a user namespace refuses; inside, /dev is that of the machine.
  container=lxc debootstrap --variant=minbase --foreign "$suite" "$1" "$2" "${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts/sid"
  mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
  printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/man/*' 'path-exclude=/usr/share/doc/*' >"$1/etc/dpkg/dpkg.cfg.d/image"
  enter "$1" env container=lxc /debootstrap/debootstrap --second-stage
}

install_script() {
  cat <<END
export DEBIAN_FRONTEND=noninteractive
apt-get update
# twice: hundreds of packages through a mirror that may lose a connection, or hand out half a file, once
for attempt in first second; do
  echo "\$attempt attempt"
  if apt-get install -y --no-install-recommends --fix-broken $(grep -v '^#' "$tools/airgap/packages.txt" | tr '\n' ' '); then break; fi
  [ \$attempt = first ]
done
update-ca-certificates
END
}

# The generator that belongs to the image's rules_rust. Unoptimised: it runs for seconds and builds for minutes.
generator_script() {
  cat <<'END'
cp -rL /usr/share/bazel/rules/rust/crate_universe /opt/crate-generator
cd /opt/crate-generator
trap 'rm -rf /opt/crate-generator' EXIT
export CARGO_HOME=/opt/generator-cargo CARGO_TARGET_DIR=/opt/crate-generator/target CARGO_PROFILE_RELEASE_OPT_LEVEL=0
cargo build --release --locked --bin cargo-bazel
mv target/release/cargo-bazel /opt/cargo-bazel
rm -rf /opt/generator-cargo
END
}

# Versions of all packages; and of Debian's rc file only where its Bazel is installed: modules.sh says what replaces what.
record_script() {
  cat <<'END'
dpkg-query --show >/opt/packages.txt
sed -i '/^startup/!d' /etc/bazel/bazelrc
apt-get clean
rm -rf /var/lib/apt/lists/*
END
}
