#!/usr/bin/env bash
# Runs every blocking node at a memory limit far below its input. See README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cargo build --release --manifest-path "$here/../../Cargo.toml"
exec python3 "$here/bench.py" "$@"
