import schema
import totals

totals.with_polars(["tailnum", "dest", "month"], schema.polars)
