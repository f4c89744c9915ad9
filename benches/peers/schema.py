"""The types of the flights file, for the Python peers."""

TEXT = {"carrier", "tailnum", "origin", "dest"}
COLUMNS = (
    "year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay carrier flight tailnum "
    "origin dest air_time distance hour minute time_hour"
).split()

DUCKDB = {
    name: "VARCHAR" if name in TEXT else "TIMESTAMP" if name == "time_hour" else "BIGINT" for name in COLUMNS
}


def polars():
    import polars as pl

    return {name: pl.String if name in TEXT | {"time_hour"} else pl.Int64 for name in COLUMNS}


def with_id(columns):
    """The types of the file in which every flight has a number of its own in front."""
    return {"id": next(iter(columns.values())), **columns}
