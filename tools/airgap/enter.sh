# shellcheck shell=bash
# Runs commands inside the image, in a private mount namespace: no mount is ever seen, or left behind, outside.

# enter ROOT CMD...: CMD in ROOT, with the workspace and the caches at the paths they have outside.
# pivot_root, not chroot: the kernel refuses user namespaces, and with them Bazel's sandbox, to a process under chroot.
enter() {
  local root=$1 path environment=()
  shift
  mapfile -t environment < <(image_environment)
  for path in "$workspace" "$output_root" "$store"; do mkdir -p "$root$path" "$path"; done
  mkdir -p "$root/host" "$root$HOME/.cargo/registry/index"
  # the crate generator looks for the index cache under the directory name that older cargo used
  ln -sfn index.crates.io-1949cf8c6b5b557f "$root$HOME/.cargo/registry/index/index.crates.io-6f17d22bba15001f"
  copy_settings "$root"
  # shellcheck disable=SC2016 # expanded inside
  unshare --mount --propagation private bash -euc '
    root=$1 directory=$2 binds=$3; shift 3
    mount --bind "$root" "$root"
    for path in /proc /dev /sys; do mount --rbind "$path" "$root$path"; done
    mount --bind /tmp "$root/tmp"
    while read -r path; do mount --bind "$path" "$root$path"; done <<<"$binds"
    cd "$root"
    pivot_root . host
    PATH=/usr/sbin:/usr/bin:/sbin:/bin
    umount --lazy /host
    cd "$directory"
    exec "$@"' _ "$root" "$(directory_inside)" "$workspace"$'\n'"$output_root"$'\n'"$store" env -i "${environment[@]}" "$@"
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

# enter_again PID CMD...: CMD in the namespace of a running server. A client in a namespace of its own
# takes the server's directory for moved and restarts it.
enter_again() {
  local pid=$1 environment=()
  shift
  mapfile -t environment < <(image_environment)
  # shellcheck disable=SC2016 # expanded inside
  nsenter --target "$pid" --mount --root -- env -i "${environment[@]}" bash -c 'cd "$1" && shift && exec "$@"' _ "$(directory_inside)" "$@"
}

# bazel_in_image ARGUMENTS...
bazel_in_image() {
  local pid line=(bazel "--bazelrc=$modules/bazelrc" "--output_user_root=$output_root" "$@")
  if pid=$(server_pid); then
    copy_settings "$image"
    enter_again "$pid" "${line[@]}"
  else
    enter "$image" "${line[@]}"
  fi
}
