# shellcheck shell=bash
# Where things are kept. All of it is under the user's cache directory and can be deleted at any time.

workspace=$(cd "$tools/.." && pwd -P)
[ -n "${HOME:-}" ] || fail "HOME is not set" "caches are kept below it"
# in the namespace where the image is built, the user has root's name
user=${launcher_user:-$(id -un)}
cache_home=${XDG_CACHE_HOME:-$HOME/.cache}
cache=$cache_home/dataset-rt
# actions and downloads shared by all clones: a second clone compiles nothing again
store=$cache/bazel
# the image depends on its recipe alone, so that work on rule sets and flags does not rebuild it
recipe=$(cat "$tools/airgap/recipe.sh" "$tools/airgap/packages.txt" | sha256sum | cut -c1-12)
image=$cache/bazel-image-$recipe

is_own() { [ -O "$1" ]; }

# One that another user made here is neither trusted nor written to.
choose_image() {
  if [ -e "$image" ] && ! is_own "$image"; then image=$image-$user; fi
}
choose_image

# Bazel's own directory for this user, under the name that Bazel would choose by itself
output_root=$cache_home/bazel/_bazel_$user
# what the kernel says about processes
processes=/proc

# Bazel must start inside the workspace; a person may stand in any folder of it.
cd_workspace() {
  case $PWD/ in
    "$workspace"/*) ;;
    *) cd "$workspace" || exit ;;
  esac
}

# need_folders FOLDER...: makes them, or says which cannot be written to.
need_folders() {
  local folder
  for folder in "$@"; do
    { mkdir -p "$folder" && [ -w "$folder" ]; } 2>/dev/null || fail "cannot write to the cache directory $folder" \
      "set XDG_CACHE_HOME to a directory that $user can write to"
  done
}
