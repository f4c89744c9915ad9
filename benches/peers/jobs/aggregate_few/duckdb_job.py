import schema
import totals

totals.with_duckdb(["carrier", "origin"], schema.DUCKDB)
