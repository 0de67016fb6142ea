"""The jobs as DuckDB does them, once over all of the bids, on one thread.

    duck.py JOB BIDS.csv            times the query; every column goes into a checksum, as ours does
    duck.py --rows JOB BIDS.csv     prints the table as JSON lines, ties decided by arrival
"""

import json
import sys
import time

import duckdb

COLUMNS = "auction, bidder, price, channel, url, dateTime, extra"
TYPES = {"auction": "BIGINT", "bidder": "BIGINT", "price": "BIGINT", "channel": "VARCHAR", "url": "VARCHAR",
         "dateTime": "TIMESTAMP", "extra": "VARCHAR"}


def ranked(keys, order, last, columns=COLUMNS):
    return f"""SELECT {columns} FROM (SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY {order}) AS row_num
               FROM bids) WHERE row_num <= {last}"""


def query(job, tie):
    """The table of a job; `tie` is what decides between rows of equal order, first (+) or last (-) to arrive."""
    first, last = (", arrival", ", arrival DESC") if tie else ("", "")
    kept = ranked("bidder, auction", "dateTime DESC" + last, 1)
    return {
        "keep_first": ranked("bidder, auction", "dateTime" + first, 1),
        "keep_last": kept,
        "keep_last_upsert": kept,
        "keep_last_json": kept,
        "top10": ranked("auction", "price DESC" + first, 10),
        "top10_ranked": ranked("auction", "price DESC" + first, 10, COLUMNS + ", row_num"),
        "channel_prices": f"SELECT channel, count(*), sum(price)::BIGINT, min(price), max(price) FROM ({kept}) GROUP BY channel",
        "copy": f"SELECT {COLUMNS} FROM bids",
    }[job]


def main():
    wants_rows = sys.argv[1] == "--rows"
    job, path = sys.argv[-2:]
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute(f"SET preserve_insertion_order = {wants_rows}")
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES.items())
    connection.execute(f"""CREATE VIEW bids AS SELECT *{', row_number() OVER () AS arrival' if wants_rows else ''}
        FROM read_csv('{path}', header = false, auto_detect = false, delim = ',', quote = '', escape = '', columns = {{{types}}})""")
    if wants_rows:
        for row in connection.execute(query(job, True)).fetchall():
            print(json.dumps([value if isinstance(value, (int, str)) else value.isoformat(" ", "milliseconds")
                              for value in row], separators=(",", ":")))
        return
    begin = time.monotonic()
    timed = query(job, False)
    if job == "keep_first":  # the keys alone, which is less than we do
        timed = "SELECT DISTINCT bidder, auction FROM bids"
    rows, _ = connection.execute(f"SELECT count(*), bit_xor(hash(t)) FROM ({timed}) AS t").fetchone()
    print(f"rows={rows} seconds={time.monotonic() - begin:.4f} duckdb={duckdb.__version__}")


if __name__ == "__main__":
    main()
