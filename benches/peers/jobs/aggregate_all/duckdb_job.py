import sys

import duckdb

import schema

flights, out = sys.argv[1:3]
duckdb.execute("SET threads = 2")
duckdb.execute(f"""
    COPY (
        SELECT id, count(*) AS flights, sum(distance) AS miles, avg(arr_delay) AS mean_delay,
               max(dep_delay) AS worst
        FROM read_csv('{flights}', header = true, columns = {schema.with_id(schema.DUCKDB)},
                      timestampformat = '%Y-%m-%dT%H:%M:%SZ')
        GROUP BY id
    ) TO '{out}' (HEADER)
""")
