# shellcheck shell=bash
# Puts Debian's rule sets, with our overlays, in the place of the modules that MODULE.bazel names.
# They stand inside the image under a hash of this file and the overlays: made in a second, without rebuilding the image.

# What the overlays were written for; Debian's next release moves.
expected_packages="bazel-bootstrap=7.7 bazel-rules-rust=0.54 bazel-rules-python=0.22"
# modules that rule sets name and that nothing here uses
empty_modules="protobuf apple_support aspect_rules_js zlib buildozer"

modules=/opt/modules-$( (cat "$tools/airgap/modules.sh" && find "$tools/airgap/overlay" -type f -print0 | sort -z | xargs -0 cat) | sha256sum | cut -c1-12)

ensure_modules() {
  [ -d "$image$modules" ] || with_lock "$cache/modules.lock" "assembling the rule sets" assemble_modules
}

assemble_modules() {
  [ ! -d "$image$modules" ] || return 0
  local root=$image$modules.new wanted have name
  for wanted in $expected_packages; do
    have=$(awk -v p="${wanted%=*}" '$1 == p {print $2}' "$image/opt/packages.txt")
    case $have in
      "${wanted#*=}".*) ;;
      *) fail "the image has ${wanted%=*} ${have:-(absent)}; the overlays in tools/airgap/overlay fit ${wanted#*=}" \
        "adapt the overlays, then this list in tools/airgap/modules.sh" ;;
    esac
  done
  rm -rf "$root" && mkdir -p "$root/registry/modules" "$root/rust_host_tools/bin"
  echo '{}' >"$root/registry/bazel_registry.json"
  cp -rL "$image/usr/share/bazel/rules/rust" "$root/rules_rust"
  cp -rL "$image/usr/share/bazel/rules/python" "$root/rules_python"
  cp -r "$tools/airgap/overlay/." "$root/"
  for name in $empty_modules; do
    mkdir -p "$root/$name"
    echo "module(name = \"$name\")" >"$root/$name/MODULE.bazel"
    touch "$root/$name/BUILD.bazel"
  done
  ln -s /usr/bin/cargo /usr/bin/rustc "$root/rust_host_tools/bin/"
  echo 'exports_files(glob(["bin/*"]))' >"$root/rust_host_tools/BUILD.bazel"
  touch "$root/rust_host_tools/REPO.bazel"
  write_bazelrc >"$root/bazelrc"
  mv -T "$root" "$image$modules"
}

# What every Bazel command is told: which module is found where.
write_bazelrc() {
  local pair name
  cat <<EOF
startup --host_jvm_args=-Djavax.net.ssl.trustStore=/etc/ssl/certs/java/cacerts
common --noenable_workspace
common --lockfile_mode=off
common --registry=file://$modules/registry
common --override_repository=rules_rust~~rust_host_tools~rust_host_tools=$modules/rust_host_tools
common --repo_env=CARGO_BAZEL_GENERATOR_URL=file:///opt/cargo-bazel
build --config=airgap
EOF
  for name in cc java license proto; do echo "common --override_module=rules_$name=/usr/share/bazel/rules/$name"; done
  for pair in bazel_features=features platforms=platforms bazel_skylib=skylib; do
    echo "common --override_module=${pair%%=*}=/usr/share/bazel/tools/${pair#*=}"
  done
  for name in rules_rust rules_python $empty_modules; do echo "common --override_module=$name=$modules/$name"; done
}
