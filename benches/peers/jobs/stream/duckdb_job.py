import sys

import duckdb

import schema

flights, out = sys.argv[1:]
duckdb.execute("SET threads = 2")
duckdb.execute(f"""
    COPY (
        SELECT month, day, dep_delay, arr_delay, carrier, flight, tailnum, origin, dest, distance, time_hour,
               CASE WHEN distance < 1000 THEN 'short' WHEN distance < 2000 THEN 'medium' ELSE 'long' END AS reach,
               distance * 60.0::DOUBLE / air_time AS speed
        FROM read_csv('{flights}', header = true, columns = {schema.DUCKDB},
                      timestampformat = '%Y-%m-%dT%H:%M:%SZ')
        WHERE distance >= 500 AND air_time >= 60
    ) TO '{out}' (HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S')
""")
