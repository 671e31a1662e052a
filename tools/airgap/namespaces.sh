# shellcheck shell=bash
# Mounts, and files of other owners, are root's. Anybody else has both in a user namespace, where the kernel allows one.

# the kernel's switches
kernel_settings=/proc/sys
# flags of unshare with which this user may make mounts, and has files of many owners: none for root
own_mounts=() own_files=()

need_mounts() {
  local tool
  for tool in flock mount nsenter pivot_root setpriv unshare; do
    command -v "$tool" >/dev/null || fail "$tool is not installed" "it is in one of the packages of util-linux, as util-linux-extra"
  done
  if unshare --mount true 2>/dev/null; then return; fi
  own_mounts=(--user --map-root-user)
  unshare "${own_mounts[@]}" --mount true 2>/dev/null && return
  fail "the air-gapped image needs mounts: you are not root, or root of a container without that right, and user namespaces are refused" \
    "$(why_refused)" "or install bazelisk and set DATASET_RT_BAZEL=host"
}

# The switch that refuses user namespaces, and how it is turned.
why_refused() {
  local pair value
  for pair in user/max_user_namespaces=15000 kernel/unprivileged_userns_clone=1 kernel/apparmor_restrict_unprivileged_userns=0; do
    value=$(cat "$kernel_settings/${pair%=*}" 2>/dev/null) || continue
    case ${pair%=*}=$value in
      */max_user_namespaces=0 | */unprivileged_userns_clone=0 | */apparmor_restrict_unprivileged_userns=1)
        pair=${pair/\//.}
        echo "this kernel has ${pair%=*} = $value; as root: sysctl -w $pair"
        return
        ;;
    esac
  done
  echo "in a container: start it with --privileged, or with a profile that allows unshare and mount"
}

# Building takes files of many owners. A user has them from the ranges that root gave out.
need_owners() {
  [ ${#own_mounts[@]} -gt 0 ] || return 0
  command -v newuidmap >/dev/null ||
    fail "to build the image, a user other than root needs newuidmap" "as root: apt-get install uidmap"
  unshare --help | grep -q -- --map-auto ||
    fail "to build the image, a user other than root needs util-linux 2.38 or newer, this is $(unshare --version)"
  own_files=(--map-auto)
  unshare "${own_mounts[@]}" "${own_files[@]}" true 2>/dev/null ||
    fail "$user has no range of user and group numbers in /etc/subuid and /etc/subgid" \
      "as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user"
}

# in_own_processes CMD...: CMD with what root has, and with the processes it starts: if the launcher or CMD is killed, all of them are.
in_own_processes() {
  setpriv --pdeathsig KILL unshare "${own_mounts[@]}" "${own_files[@]}" --pid --fork --kill-child "$@"
}
