"""Times clinker and its peers on the same work, interleaved, and prints one table a job."""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time


HERE = pathlib.Path(__file__).parent
WORK = HERE / "work"
FLIGHTS = WORK / "flights10.csv"
NUMBERED = WORK / "flights10id.csv"
CLINKER = HERE / "../../target/release/clinker"


def commands(job):
    """Each contender's command line for a job; each writes `work/out_<name>.csv`."""
    folder = HERE / "jobs" / job
    shutil.copy(folder / "pipeline.yaml", WORK / f"{job}.yaml")
    run = [str(CLINKER.resolve()), "run", str(WORK / f"{job}.yaml"), "--quiet"]
    flights = NUMBERED if job == "aggregate_all" else FLIGHTS
    found = {"clinker": [*run, "--threads", "2"], "clinker, 1 thread": [*run, "--threads", "1"]}
    for peer in ("duckdb", "polars"):
        found[peer] = [sys.executable, str(folder / f"{peer}_job.py"), str(flights), str(output(peer))]
    if shutil.which("mlr") and (folder / "miller.sh").exists():
        found["miller"] = [str(folder / "miller.sh"), str(flights), str(output("miller"))]
    return found


def output(contender):
    return WORK / f"out_{contender.split(',')[0]}.csv"


def measure(command):
    """Runs a command; gives wall seconds, CPU seconds and peak resident megabytes."""
    environment = dict(os.environ, PYTHONPATH=str(HERE))
    began = time.perf_counter()
    pid = os.posix_spawn(shutil.which(command[0]), command, environment)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def outputs(contender):
    """The files that a contender wrote: `out_<name>.csv`, and a second one where the job has two."""
    first = output(contender)
    second = first.with_name(first.name.replace(".csv", "_removed.csv"))
    return [path for path in (first, second) if path.exists()]


def fingerprint(path):
    """Row count, width, and an order-free checksum of the values in a CSV file.

    Made in a process of its own: the peak memory that the system accounts to a command is never below that of the
    process that starts it, so this one stays small.
    """
    program = (
        "import sys, polars as pl\n"
        "frame = pl.read_csv(sys.argv[1], schema_overrides={'speed': pl.Float64, 'mean_delay': pl.Float64}, infer_schema_length=100_000)\n"
        "print(frame.height, frame.width, frame.hash_rows(seed=1).sum())"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    return tuple(int(number) for number in done.stdout.split())


def run_job(job, rounds):
    contenders = commands(job)
    prints = {}
    for stale in WORK.glob("out_*.csv"):
        stale.unlink()
    for name, command in contenders.items():
        measure(command)
        prints[name] = tuple(fingerprint(path) for path in outputs(name))
    if len(set(prints.values())) != 1:
        raise SystemExit(f"the outputs of {job} differ: {prints}")
    rows, columns = sum(found[0] for found in prints["clinker"]), prints["clinker"][0][1]
    samples = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, command in contenders.items():
            # Every run starts from the same state: freeing the file of the run before is nobody's work.
            for stale in outputs(name):
                stale.unlink()
            samples[name].append(measure(command))
    medians = {name: [statistics.median(column) for column in zip(*runs)] for name, runs in samples.items()}
    print(f"\n## {job}: {rows:,} rows of {columns} columns written, median of {rounds}\n")
    print("| | wall s | CPU s | peak MB | clinker's wall ÷ | CPU ÷ | peak ÷ |")
    print("|---|---|---|---|---|---|---|")
    ours = medians["clinker"]
    for name, (wall, cpu, peak) in medians.items():
        ratios = " | ".join(f"{mine / theirs:.2f}" for mine, theirs in zip(ours, (wall, cpu, peak)))
        print(f"| {name} | {wall:.3f} | {cpu:.2f} | {peak:.0f} | {ratios} |")


def main():
    jobs = sorted(path.name for path in (HERE / "jobs").iterdir() if path.is_dir())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", nargs="+", choices=jobs, default=jobs)
    arguments = parser.parse_args()
    if not NUMBERED.exists():
        print("building the ten-fold flights files", flush=True)
        build = "import pathlib, sys, data; data.build(*map(pathlib.Path, sys.argv[1:]))"
        subprocess.run([sys.executable, "-c", build, str(FLIGHTS), str(NUMBERED)], check=True, cwd=HERE)
    for job in arguments.jobs:
        run_job(job, arguments.rounds)


if __name__ == "__main__":
    main()
