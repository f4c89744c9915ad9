import sys

import duckdb

import schema

flights, out = sys.argv[1:3]
duckdb.execute("SET threads = 2")
duckdb.execute(f"""
    COPY (
        SELECT tailnum, dest, month, count(*) AS flights, sum(distance) AS miles, avg(arr_delay) AS mean_delay,
               max(dep_delay) AS worst
        FROM read_csv('{flights}', header = true, columns = {schema.DUCKDB},
                      timestampformat = '%Y-%m-%dT%H:%M:%SZ')
        GROUP BY tailnum, dest, month
    ) TO '{out}' (HEADER)
""")
