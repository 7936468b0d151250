#!/usr/bin/env bash
# Opens a real OpenClaw database (a fixture of the tests) in the sqlite3 shell and searches it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
zstd -dq tests/fixtures/sep-2026.9.6-small-main.sqlite.zst -o "$folder/openclaw-agent.sqlite"
cp dist/session_search.so scripts/demo.sql "$folder"
cd "$folder"
sqlite3 -batch -bail -init /dev/null session-search.sqlite < demo.sql
