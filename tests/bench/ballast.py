"""Memory that the machine holds, so that every program under the clock finds its pages as fast as the others do.

A virtual machine hands pages that lie free back to its host within seconds. Then the first touch of a page costs up to thirty
times what it costs otherwise (2 GB: 0.16 s or 5.5 s), and every later access half as much again where the host has no large
page for it. Whichever program needs more memory would be measured by the host's mood, and whichever takes it slowly, by how
much of it has gone meanwhile.

So a child holds more than any program needs. Before a run it frees as much as this program took last time, and takes it again
when the run is over: what has just been freed is what the next one gets, and not enough lies free for the machine to give it
away. Linux looks for free pages to report two seconds after some have become free, so a run begins when it has just looked:
else it would look in the middle of one, and whoever takes its pages later would pay. It is a child because a program's peak of
memory counts from that of the process that started it.
"""

import contextlib
import mmap
import os
import time

HELD_BYTES = 3 << 30  # twice what any of these programs needs
MARGIN_BYTES = 128 << 20
PAGE = mmap.PAGESIZE


class Ballast:
    settle_seconds = 2.2  # PAGE_REPORTING_DELAY is 2 s

    def __init__(self):
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        if os.fork() == 0:
            os.close(self.orders)
            try:
                hold(orders, answers)
            finally:
                os._exit(0)  # and so when the bench ends, which closes the pipe
        os.close(orders)
        os.close(answers)

    def order(self, needed):
        os.write(self.orders, needed.to_bytes(8, "little"))
        os.read(self.answers, 1)

    @contextlib.contextmanager
    def makes_room(self, needed):
        time.sleep(self.settle_seconds)
        self.order(min(needed, HELD_BYTES))
        try:
            yield
        finally:
            self.order(0)


def hold(orders, answers):
    """The child: frees as many bytes as it is told, takes them again when told 0."""
    with open("/proc/meminfo", encoding="ascii") as info:
        available = next(int(line.split()[1]) * 1024 for line in info if line.startswith("MemAvailable"))
    pages = mmap.mmap(-1, min(HELD_BYTES, available // 2) // PAGE * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_HUGEPAGE)
    touch(pages, len(pages))
    freed = 0
    while order := os.read(orders, 8):
        needed = int.from_bytes(order, "little")
        touch(pages, freed)
        freed = min(-(-needed // PAGE) * PAGE, len(pages))
        if freed:
            pages.madvise(mmap.MADV_DONTNEED, 0, freed)
        os.write(answers, b"r")


def touch(pages, size):
    for at in range(0, size, PAGE):
        pages[at] = 1
