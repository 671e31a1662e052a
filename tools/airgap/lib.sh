# shellcheck shell=bash
# Messages and locking. Everything a person reads goes to standard error: standard output is Bazel's.

say() { printf 'tools/bazel: %s\n' "$*" >&2; }

# fail MESSAGE [HINT...]: one line that says what is wrong, then one line for each thing that can be done.
fail() {
  say "error: $1"
  shift
  local hint
  for hint in "$@"; do printf '  %s\n' "$hint" >&2; done
  exit 1
}

# with_lock FILE WHAT CMD...: runs CMD while holding FILE; says so when another start holds it.
# What CMD starts holds it too, and keeps it should this process be killed.
with_lock() {
  local file=$1 what=$2 lock_fd
  shift 2
  mkdir -p "$(dirname "$file")"
  { exec {lock_fd}>"$file"; } 2>/dev/null || fail "cannot write to $file"
  if ! flock --nonblock "$lock_fd"; then
    say "another start is $what; waiting for it"
    flock "$lock_fd"
  fi
  "$@"
  exec {lock_fd}>&-
}

# step LABEL LOG CMD...: runs CMD with its output in LOG, shows what it is doing, and on failure the end of LOG.
step() {
  local label=$1 log=$2 started=$SECONDS pid shown=0 status=0
  shift 2
  say "$label"
  # a process group of its own, so that an interrupt ends all of it
  set -m
  "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  # shellcheck disable=SC2064 # this very process
  trap "kill -- -$pid 2>/dev/null; exit 130" INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    if [ -t 2 ]; then
      printf '\r\033[K  %4ds  %.100s' "$((SECONDS - started))" "$(tail -c 300 "$log" | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')" >&2
    elif [ $((SECONDS - started)) -ge $((shown + 30)) ]; then
      shown=$((SECONDS - started))
      printf '  %4ds  %.100s\n' "$shown" "$(tail -n 1 "$log" | tr -cd '[:print:]')" >&2
    fi
  done
  wait "$pid" || status=$?
  trap 'exit 130' INT TERM
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  if [ "$status" -ne 0 ]; then
    say "failed after $((SECONDS - started)) s; the end of $log:"
    tail -n 25 "$log" | sed 's/^/  | /' >&2
    return "$status"
  fi
}
