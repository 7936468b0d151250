#!/usr/bin/env bash
# Both ways of living in the sqlite3 shell: beside a real OpenClaw database (a fixture of the tests), and in a database of one's own.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
zstd -dq tests/fixtures/sep-2026.9.6-small-main.sqlite.zst -o "$folder/openclaw-agent.sqlite"
cp dist/session_search.so scripts/demo_*.sql sql/standalone.sql "$folder"
cd "$folder"
sqlite3 -batch -bail -init /dev/null session-search.sqlite < demo_beside.sql
sqlite3 -batch -bail -init /dev/null application.sqlite < demo_in_place.sql
