// Nanoseconds of the clock that never goes back.
#include <stdint.h>
#include <time.h>

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
