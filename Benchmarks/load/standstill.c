// How much of a core the machine took away: something of higher priority than all servers wants to run each millisecond,
// and is late only where the core did not run.
//
// usage: standstill CORE
// Until SIGTERM; then prints the most milliseconds that were lost within a tenth of a second. Takes about 0.3 % of the
// core. Ends with 3 where it may not have such a priority.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const int64_t interval = 1000000, window = 100000000;
static volatile sig_atomic_t is_over;

static void end(int number) {
    (void)number;
    is_over = 1;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(atoi(argv[1]), &core);
    struct sched_param priority = {.sched_priority = 50};
    if (sched_setaffinity(0, sizeof core, &core) != 0) return 2;
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) return 3;
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    puts("watching");
    fflush(stdout);
    int64_t most = 0, lost = 0, due = now(), end_of_window = due + window;
    while (!is_over) {
        due += interval;
        struct timespec time = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) continue;
        int64_t late = now() - due;
        // A sleeping core takes a while to wake, which is no loss.
        if (late > interval / 2) lost += late;
        // What was slept through is not made up for: it would count again.
        if (late > interval) due += late;
        if (lost > most) most = lost;
        if (due > end_of_window) {
            lost = 0;
            end_of_window = due + window;
        }
    }
    printf("%.3f\n", (double)most / 1e6);
    return 0;
}
