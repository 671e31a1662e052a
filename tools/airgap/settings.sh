# shellcheck shell=bash
# Mirrors, proxies and certificates of this machine, read from its own configuration. Nothing is assumed and no host is named here.

# The Debian mirror that apt is set up with. DATASET_RT_DEBIAN_MIRROR takes its place where apt is not, or is set up for something else.
debian_mirror() {
  local found=${DATASET_RT_DEBIAN_MIRROR:-}
  if [ -z "$found" ] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2016 # a format of apt's
    found=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Component: main' 2>/dev/null | grep -E '/debian/?$' | head -n 1) || true
  fi
  if [ -z "$found" ]; then
    found=$(awk '/^URIs:/ {print $2; exit} /^deb / {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' \
      /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null) || true
  fi
  [ -n "$found" ] || fail "found no Debian mirror in this machine's apt configuration" \
    "set DATASET_RT_DEBIAN_MIRROR to the address of one"
  printf '%s\n' "${found%/}"
}

# Environment of every command in the image: nothing of the caller's but proxies, mirrors and what names the terminal.
image_environment() {
  local certificates=/etc/ssl/certs/ca-certificates.crt name
  printf '%s\n' "HOME=$HOME" "USER=$user" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "TERM=${TERM:-dumb}" \
    "SSL_CERT_FILE=$certificates" "PIP_CERT=$certificates" "REQUESTS_CA_BUNDLE=$certificates" "CARGO_HTTP_CAINFO=$certificates"
  for name in CI http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST; do
    [ -z "${!name:-}" ] || printf '%s\n' "$name=${!name}"
  done
}

# copy_settings ROOT: resolver, pip's and cargo's configuration into the image, at the places where its tools look.
copy_settings() {
  local root=$1 pair from to
  cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
  for pair in /etc/pip.conf:/etc/pip.conf \
    "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf:$HOME/.config/pip/pip.conf" \
    "$HOME/.pip/pip.conf:$HOME/.pip/pip.conf" \
    "${CARGO_HOME:-$HOME/.cargo}/config.toml:$HOME/.cargo/config.toml"; do
    from=${pair%%:*} to=$root${pair#*:}
    if [ -f "$from" ]; then
      mkdir -p "$(dirname "$to")" && cp -L "$from" "$to"
    else
      rm -f "$to"
    fi
  done
}

# copy_certificates ROOT: what this machine trusts beyond the distribution, so that downloads through its mirrors are trusted too.
copy_certificates() {
  local root=$1
  mkdir -p "$root/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp -L {} "$root/usr/local/share/ca-certificates/" \; 2>/dev/null || true
}

# apt_settings: this machine's proxies and time limits for apt, as lines of an apt.conf.
apt_settings() {
  echo 'Acquire::Check-Valid-Until "false";'
  command -v apt-config >/dev/null || return 0
  apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https)(::|-)?.*(Proxy|Timeout)' || true
}
