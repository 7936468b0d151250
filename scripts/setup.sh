#!/usr/bin/env bash
# Brings what the demo and the tests need: Debian packages (where root), and the host programs that load the extension (into target/hosts).
# usage: scripts/setup.sh [demo|test|long|openclaw]
set -euo pipefail
cd "$(dirname "$0")/.."

NODE=24.21.0           # node:sqlite with SQLite 3.53
APSW_OLD=3.39.4.0      # a SQLite older than the oldest that is supported
APSW_NEW=3.54.1.0      # a current SQLite
OPENCLAW=2026.9.6      # the OpenClaw that the index is proved beside
PYTHON=/usr/bin/python3 # Debian's: it can load extensions

fail() { echo "setup: $*" >&2; exit 1; }

# command -> Debian package
packages=()
need() { command -v "$1" >/dev/null || packages+=("$2"); }
need cc gcc
need sqlite3 sqlite3
need zstd zstd
what=${1:-test}
if [ "$what" = long ]; then
  need pkg-config pkg-config
  pkg-config --exists sqlite3 || packages+=(libsqlite3-dev)
fi
if [ "$what" = openclaw ]; then
  need ip iproute2
fi
if [ "$what" != demo ]; then
  [ -x "$PYTHON" ] || packages+=(python3)
  "$PYTHON" -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
  need nm binutils
  need npm npm
fi
if [ ${#packages[@]} -gt 0 ]; then
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || fail "missing: ${packages[*]} (these are the Debian package names)"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null
fi
rust=$(cargo --version 2>/dev/null | cut -d' ' -f2 | cut -d. -f1,2) || rust=none
case $rust in
  1.9[5-9] | 1.[1-9][0-9][0-9] | [2-9].*) ;;
  *) fail "needs Rust 1.95 or newer, found $rust (see https://rustup.rs)" ;;
esac
[ "$what" = demo ] || { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1 || fail "missing: clippy and rustfmt (rustup component add clippy rustfmt)"
[ "$what" != demo ] || exit 0

hosts=target/hosts
mkdir -p "$hosts"
apsw() { # version
  [ -d "$hosts/apsw-$1/apsw" ] ||
    "$PYTHON" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$hosts/apsw-$1" "apsw==$1"
}
apsw "$APSW_OLD"
apsw "$APSW_NEW"
node="$hosts/node-$NODE"
[ -x "$node/node_modules/node/bin/node" ] || npm install --loglevel=error --no-fund --no-audit --prefix "$node" "node@$NODE"
"$node/node_modules/node/bin/node" --version >/dev/null || fail "the npm package node@$NODE brought no node program"
ln -sfn "apsw-$APSW_OLD" "$hosts/apsw-old"
ln -sfn "apsw-$APSW_NEW" "$hosts/apsw-new"
ln -sfn "node-$NODE/node_modules/node/bin/node" "$hosts/node"
[ "$what" = openclaw ] || exit 0
openclaw="$hosts/openclaw-$OPENCLAW"
# Its scripts would prepare what only a running agent needs.
[ -f "$openclaw/node_modules/openclaw/openclaw.mjs" ] ||
  PATH="$PWD/$hosts/node-$NODE/node_modules/node/bin:$PATH" \
    npm install --ignore-scripts --loglevel=error --no-fund --no-audit --prefix "$openclaw" "openclaw@$OPENCLAW"
"$hosts/node" "$openclaw/node_modules/openclaw/openclaw.mjs" --version | grep -qF "$OPENCLAW" || fail "the npm package openclaw@$OPENCLAW does not run"
ln -sfn "openclaw-$OPENCLAW" "$hosts/openclaw"
