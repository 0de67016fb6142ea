#!/usr/bin/env python3
"""Writes order_events.csv and sales.csv. The data is made up, and made to fit: the program searches for a seed whose
data gives the published counts (../README.md, "The lab"), which real Flink then confirms. Standard library only.

  generate.py [FOLDER]      writes both files
  generate.py --search      looks for the seeds below anew
"""
import bisect
import datetime
import random
import sys

ORDER_SEED = 7
SALES_SEED, SALES_ROWS = 121, 665
START = datetime.datetime(2026, 1, 1, 8, 0, 0)


def stamp(ms):
    return (START + datetime.timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S.") + "%03d" % (ms % 1000)


# ---- orders: 240 orders, 581 events, 41 of them sent twice ----

def order_events(seed, orders=240, events=581, resends=41):
    """Rows (order_id, status, amount, ts) in the order of arrival.

    Events of different orders arrive up to four seconds out of order; the events of one order arrive in order, and
    what is sent again comes before the order's next event.
    """
    rng = random.Random(seed)
    stages = [1] * orders
    while sum(stages) < events:
        i = rng.randrange(orders)
        if stages[i] < 4:
            stages[i] += 1
    rows = []                                           # (arrival, order, step, row)
    for i in range(orders):
        order = "o%04d" % (i + 1)
        amount = "%d.%02d" % (rng.randint(5, 400), rng.randrange(100))
        statuses = ["created", "paid", "shipped", "delivered"][:stages[i]]
        if stages[i] in (2, 3) and rng.random() < 0.25:
            statuses[-1] = "cancelled"
        ts = rng.randrange(0, 3_600_000)
        arrival = 0
        for step, status in enumerate(statuses):
            arrival = max(arrival + 1, ts + rng.randrange(0, 4000))
            rows.append((arrival, i, step, [order, status, amount, stamp(ts)]))
            ts += rng.randrange(20_000, 600_000)
    for k in rng.sample(range(len(rows)), resends):
        arrival, i, step, row = rows[k]
        # a resend keeps its place between two events of its order, which lie 20 s apart or more
        rows.append((arrival + rng.randrange(1, 12_000), i, step + 0.5, row))
    rows.sort(key=lambda r: r[:3])
    return [r[3] for r in rows]


# ---- sales: the changelog of a Top-3 by a growing sum ----

def sales(seed, rows=1200, categories=5, products=8):
    """Rows (category, product, cents), the popular products far ahead of the others."""
    rng = random.Random(seed)
    names = ["books", "garden", "kitchen", "music", "toys"][:categories]
    weights = [1.0 / (p + 1) ** 0.9 for p in range(products)]
    out = []
    for _ in range(rows):
        c = rng.randrange(categories)
        p = rng.choices(range(products), weights)[0]
        out.append((names[c], "%s-%d" % (names[c], p + 1), rng.randint(100, 9999)))
    return out


class Top:
    """Counts the rows of `ROW_NUMBER() ... ORDER BY total DESC) <= n` over an aggregate that retracts (-U, then +U)."""

    def __init__(self, n=3):
        self.n = n
        self.totals = {}
        self.ranking = {}           # category -> [(-total, arrival)]; ties in the order of arrival
        self.arrivals = 0
        self.plain = 0              # rows without the rank number
        self.numbered = 0           # rows with it

    def add(self, category, product, amount):
        old = self.totals.get((category, product))
        ranking = self.ranking.setdefault(category, [])
        if old is not None:
            r = bisect.bisect_left(ranking, old)        # place 0, 1, ...
            del ranking[r]
            below = min(self.n, len(ranking)) - r       # rows of the top that move up
            if r < self.n:
                self.plain += 1 + (len(ranking) >= self.n)
                self.numbered += 2 * below + (len(ranking) < self.n)
        self.arrivals += 1
        new = ((old[0] if old else 0) - amount, self.arrivals)
        self.totals[(category, product)] = new
        r = bisect.bisect_left(ranking, new)
        ranking.insert(r, new)
        if r < self.n:
            self.plain += 1 + (len(ranking) > self.n)
            self.numbered += 2 * (min(self.n, len(ranking) - 1) - r) + (len(ranking) <= self.n)


def search(plain=1523, numbered=3419):
    seed = 0
    while True:
        seed += 1
        top = Top()
        for n, row in enumerate(sales(seed), 1):
            top.add(*row)
            if top.plain > plain:
                break
            if (top.plain, top.numbered) == (plain, numbered):
                return seed, n


def main():
    args = sys.argv[1:]
    if args == ["--search"]:
        print("SALES_SEED, rows =", search())
        return
    folder = args[0] if args else "."
    with open(folder + "/order_events.csv", "w") as f:
        for row in order_events(ORDER_SEED):
            f.write(",".join(row) + "\n")
    top = Top()
    with open(folder + "/sales.csv", "w") as f:
        for i, (category, product, cents) in enumerate(sales(SALES_SEED, SALES_ROWS)):
            top.add(category, product, cents)
            f.write("%s,%s,%d.%02d,%s\n" % (category, product, cents // 100, cents % 100, stamp(i * 1700)))
    print("orders: %d events; sales: %d rows, %d changes without rank number, %d with" % (
        len(order_events(ORDER_SEED)), SALES_ROWS, top.plain, top.numbered))


if __name__ == "__main__":
    main()
