import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import polars as pl

import schema

flights, out = sys.argv[1:3]
(
    pl.scan_csv(flights, schema=schema.polars())
    .with_columns(pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us"))
    .sort("dest", "arr_delay", descending=[False, True], nulls_last=True, maintain_order=True)
    .sink_csv(out, datetime_format="%Y-%m-%dT%H:%M:%S")
)
