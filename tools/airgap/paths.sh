# shellcheck shell=bash
# Where things are kept. All of it is under the user's cache directory and can be deleted at any time.

workspace=$(cd "$tools/.." && pwd -P)
cache_home=${XDG_CACHE_HOME:-$HOME/.cache}
cache=$cache_home/dataset-rt
# actions and downloads shared by all clones: a second clone compiles nothing again
store=$cache/bazel
# the image depends on its recipe alone, so that work on rule sets and flags does not rebuild it
recipe=$(cat "$tools/airgap/image.sh" "$tools/airgap/packages.txt" | sha256sum | cut -c1-12)
image=$cache/bazel-image-$recipe
# Bazel's own directory for this user, under the name that Bazel would choose by itself
output_root=$cache_home/bazel/_bazel_$(id -un)
# what the kernel says about processes
processes=/proc

# Bazel must start inside the workspace; a person may stand in any folder of it.
cd_workspace() {
  case $PWD/ in
    "$workspace"/*) ;;
    *) cd "$workspace" || exit ;;
  esac
}
