import sys

import duckdb

import schema

flights, out = sys.argv[1:3]
duckdb.execute("SET threads = 2")
duckdb.execute(f"""
    CREATE TABLE flights AS
    SELECT * FROM read_csv('{flights}', header = true, columns = {schema.DUCKDB},
                           timestampformat = '%Y-%m-%dT%H:%M:%SZ')
""")
duckdb.execute("""
    CREATE TABLE removed AS
    SELECT tailnum FROM flights GROUP BY tailnum HAVING count(*) > 3000 OR max(dep_delay) > 600
""")
for path, keep in ((out, "ANTI"), (out.replace(".csv", "_removed.csv"), "SEMI")):
    duckdb.execute(f"""
        COPY (SELECT * FROM flights {keep} JOIN removed ON flights.tailnum IS NOT DISTINCT FROM removed.tailnum)
        TO '{path}' (HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S')
    """)
