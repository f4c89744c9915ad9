import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import polars as pl

import schema

flights, out = sys.argv[1:3]
table = (
    pl.scan_csv(flights, schema=schema.polars())
    .with_columns(pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us"))
    .with_columns(
        ((pl.len().over("tailnum") > 3000) | (pl.col("dep_delay").max().over("tailnum") > 600))
        .fill_null(False).alias("removed")
    )
    .collect()
)
for path, removed in ((out, False), (out.replace(".csv", "_removed.csv"), True)):
    table.filter(pl.col("removed") == removed).drop("removed").write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%S")
