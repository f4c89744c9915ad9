import schema
import totals

totals.with_duckdb(["tailnum", "dest", "month"], schema.DUCKDB)
