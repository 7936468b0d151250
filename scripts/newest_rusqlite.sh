#!/usr/bin/env bash
# Cargo.toml allows newer versions of rusqlite than Cargo.lock holds: both builds compile with the newest one, and the Rust suites pass.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r Cargo.toml Cargo.lock build.rs src sql tests benches README.md "$folder"
export CARGO_TARGET_DIR=$PWD/target/newest-rusqlite
cd "$folder"
cargo update --quiet --package rusqlite
cargo tree --quiet --depth 1 --invert rusqlite | head -n 1
cargo check --quiet --lib --features loadable
cargo test --quiet --features bundled --test functions --test fts5 --test fixtures
