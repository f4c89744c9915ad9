import schema
import totals

totals.with_polars(["id"], lambda: schema.with_id(schema.polars()))
