import schema
import totals

totals.with_polars(["carrier", "origin"], schema.polars)
