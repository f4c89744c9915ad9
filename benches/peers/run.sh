#!/usr/bin/env bash
# Builds the data, installs the peers, and times them beside clinker. See README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/work"
[ -x "$here/work/venv/bin/python" ] || python3 -m venv "$here/work/venv"
"$here/work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb polars
if ! command -v mlr >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update && apt-get install -y miller; } >/dev/null 2>&1 || echo "Miller could not be installed; going on without it"
fi
cargo build --release --manifest-path "$here/../../Cargo.toml"
exec "$here/work/venv/bin/python" "$here/bench.py" "$@"
