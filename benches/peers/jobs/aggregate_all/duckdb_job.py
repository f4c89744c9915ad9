import schema
import totals

totals.with_duckdb(["id"], schema.with_id(schema.DUCKDB))
