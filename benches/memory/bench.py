"""Runs blocking nodes on inputs of growing size at one memory limit; prints peaks, times and what was spilled."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import data

HERE = pathlib.Path(__file__).parent
WORK = HERE / "work"
CLINKER = (HERE / "../../target/release/clinker").resolve()
SIZES = {"64M": 64 << 20, "256M": 256 << 20, "1G": 1 << 30}
LIMIT = "64M"


def measure(job, size, threads, spill):
    """Runs a job with so many workers; gives wall seconds, peak resident megabytes and spilled megabytes."""
    pipeline = WORK / f"{job}_{size}.yaml"
    text = (HERE / "jobs" / f"{job}.yaml").read_text().replace("INPUT", f"readings_{size}.csv")
    pipeline.write_text(text)
    for stale in WORK.glob("out*.csv"):
        stale.unlink()
    command = [str(CLINKER), "run", str(pipeline), "--memory-limit", LIMIT, "--threads", str(threads)]
    command += ["--spill-dir", spill]
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - began
        out.seek(0)
        printed = out.read().decode()
    if status != 0:
        raise SystemExit(f"{job} on {size} ended with status {status}:\n{printed}")
    spilled = re.search(r"^\s*total\s+([\d,]+) bytes", printed, re.MULTILINE)
    megabytes = int(spilled.group(1).replace(",", "")) >> 20 if spilled else 0
    return wall, usage.ru_maxrss / 1024, megabytes


def main():
    jobs = sorted(path.stem for path in (HERE / "jobs").glob("*.yaml"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", nargs="+", choices=jobs, default=jobs)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    for size in arguments.sizes:
        path = WORK / f"readings_{size}.csv"
        if not path.exists():
            print(f"building {size} of readings", flush=True)
            data.build(path, SIZES[size])
    print(f"\nMemory limit {LIMIT}, workers: {arguments.threads}\n")
    print("| job | input | wall s | peak MB | spilled MB |")
    print("|---|---|---|---|---|")
    spill = tempfile.mkdtemp(dir=WORK)
    for job in arguments.jobs:
        walls = []
        for size in arguments.sizes:
            wall, peak, spilled = measure(job, size, arguments.threads, spill)
            walls.append(wall)
            print(f"| {job} | {size} | {wall:.2f} | {peak:.0f} | {spilled} |", flush=True)
        if len(walls) > 1:
            print(f"| {job} | largest ÷ smallest | {walls[-1] / walls[0]:.1f} | | |", flush=True)
    shutil.rmtree(spill)


if __name__ == "__main__":
    main()
