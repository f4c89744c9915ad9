import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import polars as pl

import schema

flights, out = sys.argv[1:]
(
    pl.scan_csv(flights, schema=schema.polars())
    .filter((pl.col("distance") >= 500) & (pl.col("air_time") >= 60))
    .select(
        "month", "day", "dep_delay", "arr_delay", "carrier", "flight", "tailnum", "origin", "dest", "distance",
        pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us"),
        pl.when(pl.col("distance") < 1000).then(pl.lit("short"))
        .when(pl.col("distance") < 2000).then(pl.lit("medium"))
        .otherwise(pl.lit("long")).alias("reach"),
        (pl.col("distance") * 60.0 / pl.col("air_time")).alias("speed"),
    )
    .sink_csv(out, datetime_format="%Y-%m-%dT%H:%M:%S")
)
