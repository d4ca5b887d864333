// What a core has to give, moment by moment: something of higher priority than all servers wants to run each
// millisecond, and then does a small piece of work that is always the same. It is late where the core was away, or kept
// in the kernel, and slow where the core was slow, as when another machine's work shares its units.
//
// usage: core_watch CORE FILE
// Until SIGTERM; then writes three doubles for each time to FILE: when, in seconds of the monotonic clock; how late, and
// how long the work took, in milliseconds. Takes one percent of the core. Ends with 3 where it may not have such a
// priority.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "monotonic.h"

static const int64_t interval = 1000000;
enum { room = 600000 };
static volatile sig_atomic_t is_over;
static volatile uint64_t seed = 1;

static void end(int number) {
    (void)number;
    is_over = 1;
}

// Wide products, as signatures are checked with, and as many at once as a core can do.
static void work(void) {
    uint64_t chains[8];
    for (int i = 0; i < 8; i++) chains[i] = seed + (uint64_t)i;
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 8; i++) chains[i] = (uint64_t)(((__uint128_t)chains[i] * 0x9e3779b97f4a7c15) >> 32);
    }
    for (int i = 0; i < 8; i++) seed ^= chains[i];
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(atoi(argv[1]), &core);
    struct sched_param priority = {.sched_priority = 50};
    FILE *file = fopen(argv[2], "w");
    double (*moments)[3] = malloc(room * sizeof *moments);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!file || !moments || sched_setaffinity(0, sizeof core, &core) != 0) return 2;
    memset(moments, 1, room * sizeof *moments);  // so that none of it is missing when it is written
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) return 3;
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    puts("watching");
    fflush(stdout);
    size_t count = 0;
    for (int64_t due = now() + interval; !is_over && count < room; due += interval) {
        struct timespec time = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
        while (!is_over && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
        int64_t woke = now(), late = woke - due;
        work();  // once so that the caches hold it, which is no matter of the machine's
        int64_t began = now();
        work();
        int64_t ended = now();
        moments[count][0] = (double)woke / 1e9;
        moments[count][1] = (double)late / 1e6;
        moments[count++][2] = (double)(ended - began) / 1e6;
        // What was slept through is not made up for: it would count again.
        if (late > interval) due += late;
    }
    if (!is_over) return 2;
    if (fwrite(moments, sizeof *moments, count, file) != count || fclose(file) != 0) return 2;
    return 0;
}
