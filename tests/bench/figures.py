"""What was measured, beside what it is to be: a line each in the table at the end."""

import dataclasses


@dataclasses.dataclass
class Figure:
    name: str
    value: float
    least: float = None  # what must hold: at least, or at most
    most: float = None
    aim: float = None
    unit: str = ""
    user: float = None  # the same as a ratio of user times, which a busy machine disturbs least
    valid: bool = True

    def holds(self):
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def reaches_aim(self):
        return self.aim is not None and (self.value <= self.aim if self.most is not None else self.value >= self.aim)

    def verdict(self):
        if not self.valid:
            return "NOT VALID"
        if not self.holds():
            return "MISSED"
        return "aim reached" if self.reaches_aim() else "holds" if self.least or self.most else ""

    def bound(self):
        if self.least is not None:
            return f">= {self.least:g}"
        return "" if self.most is None else f"<= {self.most:g}"


def print_table(figures):
    width = max(len(figure.name) for figure in figures) + 2
    print(f"\n{'figure':<{width}}{'value':>10} {'':<6}{'user':>8}{'must be':>10}{'aim':>7}")
    for figure in figures:
        user = "" if figure.user is None else f"{figure.user:.3f}"
        aim = "" if figure.aim is None else f"{figure.aim:g}"
        print(f"{figure.name:<{width}}{figure.value:>10.3f} {figure.unit:<6}{user:>8}{figure.bound():>10}{aim:>7}  {figure.verdict()}")
    failed = sum(not figure.holds() or not figure.valid for figure in figures)
    print(f"{len(figures) - failed} hold, {failed} do not", flush=True)
