# shellcheck shell=bash
# Runs commands inside the image, in a private mount namespace: no mount is ever seen, or left behind, outside.

# enter ROOT CMD...: CMD in ROOT, with the workspace and the caches at the paths they have outside.
enter() {
  prepare_entry "$@"
  "${entry[@]}"
}

# prepare_entry ROOT CMD...: sets `entry` to the command line of `enter`.
# pivot_root, not chroot: the kernel refuses user namespaces, and with them Bazel's sandbox, to a process under chroot.
# Bound with all that is mounted below: in a user namespace the kernel refuses to show a folder without it.
prepare_entry() {
  local root=$1 path environment=()
  shift
  mapfile -t environment < <(image_environment)
  for path in "$workspace" "$output_root" "$store"; do mkdir -p "$root$path" "$path"; done
  mkdir -p "$root/host" "$root$HOME/.cargo/registry/index"
  # the crate generator looks for the index cache under the directory name that older cargo used
  ln -sfn index.crates.io-1949cf8c6b5b557f "$root$HOME/.cargo/registry/index/index.crates.io-6f17d22bba15001f"
  copy_settings "$root"
  # shellcheck disable=SC2016 # expanded inside
  entry=(unshare "${own_mounts[@]}" --mount --propagation private bash -euc '
    root=$1 directory=$2 binds=$3; shift 3
    mount --rbind "$root" "$root"
    while read -r path; do mount --rbind "$path" "$root$path"; done <<<"$binds"
    cd "$root"
    pivot_root . host
    PATH=/usr/sbin:/usr/bin:/sbin:/bin
    umount --lazy /host
    cd "$directory"
    exec "$@"' _ "$root" "$(directory_inside)" "$(printf '%s\n' /proc /dev /sys /tmp "$workspace" "$output_root" "$store")"
    env -i "${environment[@]}" "$@")
}

# The folder the caller stands in, where the image has it; its root otherwise.
directory_inside() {
  case $PWD/ in
    "$workspace"/*) printf '%s\n' "$PWD" ;;
    *) echo / ;;
  esac
}

# server_pid: the Bazel server of this workspace, if one runs in this very image. One that runs elsewhere is ended:
# a client would be served by it, with the programs of another image.
server_pid() {
  local base pid
  base=$output_root/$(printf %s "$workspace" | md5sum | cut -d' ' -f1)
  pid=$(cat "$base/server/server.pid.txt" 2>/dev/null) || return 1
  grep -qs '^bazel(' "$processes/$pid/cmdline" || return 1
  if [ "$(cat "$processes/$pid/root/opt/recipe" 2>/dev/null)" = "$recipe" ]; then
    printf '%s\n' "$pid"
    return
  fi
  say "ending the Bazel server that runs in another image"
  kill "$pid" && timeout 60 tail --pid="$pid" -f /dev/null
  return 1
}

# prepare_entry_again PID CMD...: sets `entry` to CMD in the namespaces of a running server. A client in a namespace of its own
# takes the server's directory for moved and restarts it.
prepare_entry_again() {
  local pid=$1 environment=() users=()
  shift
  [ ${#own_mounts[@]} -eq 0 ] || users=(--user --preserve-credentials)
  mapfile -t environment < <(image_environment)
  # shellcheck disable=SC2016 # expanded inside
  entry=(nsenter --target "$pid" "${users[@]}" --mount --root -- env -i "${environment[@]}"
    bash -c 'cd "$1" && shift && exec "$@"' _ "$(directory_inside)" "$@")
}

# bazel_in_image ARGUMENTS...: becomes Bazel's client, so that a signal to the launcher reaches it.
bazel_in_image() {
  local pid line=(bazel "--bazelrc=$modules/bazelrc" "--output_user_root=$output_root" "$@")
  if pid=$(server_pid); then
    copy_settings "$image"
    prepare_entry_again "$pid" "${line[@]}"
  else
    prepare_entry "$image" "${line[@]}"
  fi
  exec "${entry[@]}"
}
