import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import polars as pl

import schema

flights, out = sys.argv[1:3]
(
    pl.scan_csv(flights, schema=schema.polars())
    .group_by("carrier", "origin")
    .agg(
        pl.len().alias("flights"),
        pl.col("distance").sum().alias("miles"),
        pl.col("arr_delay").mean().alias("mean_delay"),
        pl.col("dep_delay").max().alias("worst"),
    )
    .sink_csv(out)
)
