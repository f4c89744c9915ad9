"""The totals of flights by some keys, for the Python peers."""

import os
import sys


def with_duckdb(keys, columns):
    """Writes the totals by `keys` of the file that the command line names; `columns` are its types."""
    import duckdb

    flights, out = sys.argv[1:3]
    by = ", ".join(keys)
    duckdb.execute("SET threads = 2")
    duckdb.execute(f"""
        COPY (
            SELECT {by}, count(*) AS flights, sum(distance) AS miles, avg(arr_delay) AS mean_delay,
                   max(dep_delay) AS worst
            FROM read_csv('{flights}', header = true, columns = {columns}, timestampformat = '%Y-%m-%dT%H:%M:%SZ')
            GROUP BY {by}
        ) TO '{out}' (HEADER)
    """)


def with_polars(keys, columns):
    """The same; `columns` gives the types when polars is there."""
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars as pl

    flights, out = sys.argv[1:3]
    (
        pl.scan_csv(flights, schema=columns())
        .group_by(*keys)
        .agg(
            pl.len().alias("flights"),
            pl.col("distance").sum().alias("miles"),
            pl.col("arr_delay").mean().alias("mean_delay"),
            pl.col("dep_delay").max().alias("worst"),
        )
        .sink_csv(out)
    )
