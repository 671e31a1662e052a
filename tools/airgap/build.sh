#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR
# The part of the launcher that builds the image, in processes of its own: image.sh starts it where it has what root has.
set -euo pipefail

main() {
  tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  local part
  for part in lib paths settings namespaces enter recipe image; do
    # shellcheck source=/dev/null # each is checked as a file of tools/bazel
    . "$tools/airgap/$part.sh"
  done
  # the first process of a namespace hears of no signal that it does not ask for
  trap 'exit 130' INT TERM
  # one that already may make mounts needs no namespace of users for them
  own_mounts=()
  build_image
}

main
