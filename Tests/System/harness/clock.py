"""A wall clock for one process that a test can set: the kernel's time plus an adjustable offset.

Only `CLOCK_REALTIME` changes, not monotonic clocks. Both processes map the file with the offset, so changes take effect
at once.
"""

import mmap
import pathlib
import shutil
import struct
import subprocess
import time

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static _Atomic int64_t *offset;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int file = open(getenv("WALL_CLOCK_OFFSET"), O_RDONLY);
    if (file < 0) abort();
    offset = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (offset == MAP_FAILED) abort();
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = real_gettime(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += atomic_load(offset);
    return result;
}
"""


class WallClock:
    """A clock for a process that is started with `variables` in its environment."""

    def __init__(self, directory: pathlib.Path):
        source, library, file = directory / "clock.c", directory / "clock.so", directory / "offset"
        source.write_text(SOURCE)
        compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))))
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        file.write_bytes(bytes(8))
        with file.open("r+b") as opened:
            self._offset = mmap.mmap(opened.fileno(), 8)
        self.variables = {"LD_PRELOAD": str(library), "WALL_CLOCK_OFFSET": str(file)}

    def shift(self, seconds: int) -> None:
        """Sets the clock this many seconds ahead of the true time, or behind it."""
        self._offset[:] = struct.pack("q", seconds)

    def set(self, unix_seconds: int) -> None:
        """Sets the clock to this second, from which it keeps running."""
        self.shift(unix_seconds - int(time.time()))
