import sys

import duckdb

import schema

flights, out = sys.argv[1:3]
duckdb.execute("SET threads = 2")
duckdb.execute(f"""
    COPY (
        SELECT * FROM read_csv('{flights}', header = true, columns = {schema.DUCKDB},
                               timestampformat = '%Y-%m-%dT%H:%M:%SZ')
        ORDER BY dest, arr_delay DESC NULLS LAST
    ) TO '{out}' (HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S')
""")
