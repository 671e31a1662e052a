# shellcheck shell=bash
# Plain Bazel, where the Bazel registry is in reach.

bazelisk_version=1.28.1
registry=https://bcr.bazel.build/bazel_registry.json
releases=https://github.com/bazelbuild/bazelisk/releases/download

registry_answers() {
  command -v curl >/dev/null && curl --silent --fail --location --connect-timeout 3 --max-time 10 --output /dev/null "$registry"
}

# host_bazel: the program to run: bazelisk or bazel of this machine, else the pinned bazelisk.
host_bazel() {
  local program
  for program in bazelisk bazel; do
    if program=$(command -v "$program") && [ "$(readlink -f "$program")" != "$(readlink -f "$tools/bazel")" ]; then
      printf '%s\n' "$program"
      return
    fi
  done
  with_lock "$cache/bazelisk.lock" "fetching bazelisk" fetch_bazelisk
  printf '%s\n' "$cache/bazelisk-$bazelisk_version"
}

fetch_bazelisk() {
  local target=$cache/bazelisk-$bazelisk_version platform sha256 expected
  [ ! -x "$target" ] || return 0
  mkdir -p "$cache"
  platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
  expected=$(awk -v p="$platform" '$2 == p {print $1}' "$tools/airgap/bazelisk.sha256")
  [ -n "$expected" ] || fail "no bazelisk is pinned for $platform" "install bazelisk or Bazel $(cat "$workspace/.bazelversion") yourself"
  curl --silent --show-error --fail --location --max-time 300 --output "$target.new" "$releases/v$bazelisk_version/bazelisk-$platform" ||
    fail "could not fetch bazelisk $bazelisk_version for $platform" "install bazelisk yourself, or set DATASET_RT_BAZEL=airgap"
  sha256=$( (sha256sum "$target.new" 2>/dev/null || shasum -a 256 "$target.new") | cut -d' ' -f1)
  [ "$sha256" = "$expected" ] || { rm -f "$target.new"; fail "bazelisk $bazelisk_version for $platform has SHA-256 $sha256, expected $expected"; }
  chmod +x "$target.new" && mv "$target.new" "$target"
}
