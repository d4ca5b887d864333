// Requests at a fixed rate, whether or not the service keeps up: latency as a caller sees it who waits for no other.
//
// usage: paced PORT POOL PATH post|bearer RATE SECONDS CONNECTIONS FILE [held]
// POOL has a body on each line, posted to PATH in turn, or a token, with which PATH is got. Each connection has a timetable; a request that is due
// while the one before it is under way is sent once that is answered, and its latency counts from when it was due. With
// a rate of 0, each connection asks again as soon as it is answered. Says `connected` when all connections stand, and
// begins half a second later. At the end, two doubles for each answer go to FILE: when its request was due, in seconds of
// the monotonic clock, and its latency in milliseconds. Prints how many answers were not 200. With `held`, it begins when
// its input has a line, and keeps the connections open until its input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "monotonic.h"

struct request { char *bytes; size_t length; };

struct connection {
    int socket;
    int is_waiting;
    int64_t due;    // at a rate: by the timetable; otherwise when it was sent
    char answer[65536];
    size_t received;
};

static struct request *requests;
static size_t request_count, next_request;
static double (*answers)[2];
static size_t answer_count, room;
static long failures;

static void fail(const char *what) {
    fprintf(stderr, "paced: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void read_pool(const char *name, const char *port, const char *path, int is_bearer) {
    FILE *file = fopen(name, "r");
    if (!file) fail(name);
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, file)) > 0) {
        line[--length] = 0;
        struct request request;
        int written = is_bearer
            ? asprintf(&request.bytes,
                "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\n\r\n", path, port, line)
            : asprintf(&request.bytes,
                "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\n"
                "Content-Length: %zd\r\n\r\n%s",
                path, port, length, line);
        if (written < 0) fail("memory");
        request.length = (size_t)written;
        requests = realloc(requests, (request_count + 1) * sizeof *requests);
        if (!requests) fail("memory");
        requests[request_count++] = request;
    }
    free(line);
    fclose(file);
    if (request_count == 0) fail("an empty pool");
}

static int connect_to(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return descriptor;
}

// Reads the input up to a character, or to its end.
static void wait_for(int character) {
    int read;
    do read = getchar();
    while (read != character && read != EOF);
}

// One request under way on a connection always fits its send buffer, so that this never blocks.
static void send_next(struct connection *connection) {
    const struct request *request = &requests[next_request++ % request_count];
    ssize_t sent = send(connection->socket, request->bytes, request->length, MSG_NOSIGNAL);
    if (sent != (ssize_t)request->length) fail("send");
    connection->is_waiting = 1;
    connection->received = 0;
}

// Whether the whole answer is there.
static int receive(struct connection *connection) {
    ssize_t length = recv(connection->socket, connection->answer + connection->received,
        sizeof connection->answer - 1 - connection->received, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (length <= 0) fail("the service closed a connection");
    connection->received += (size_t)length;
    connection->answer[connection->received] = 0;
    char *end = strstr(connection->answer, "\r\n\r\n");
    if (!end) return 0;
    char *field = strcasestr(connection->answer, "\r\ncontent-length:");
    size_t body = field && field < end ? strtoul(field + 17, NULL, 10) : 0;
    return connection->received >= (size_t)(end + 4 - connection->answer) + body;
}

int main(int argc, char **argv) {
    if (argc != 9 && argc != 10) return 2;
    int is_held = argc == 10;
    double rate = atof(argv[5]), seconds = atof(argv[6]);
    int count = atoi(argv[7]);
    if (rate < 0 || seconds <= 0 || count <= 0) return 2;
    int has_rate = rate > 0;
    read_pool(argv[2], argv[1], argv[3], strcmp(argv[4], "bearer") == 0);
    room = has_rate ? (size_t)(rate * seconds) + (size_t)count : 4 << 20;
    answers = malloc(room * sizeof *answers);
    FILE *file = fopen(argv[8], "w");
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    int poll = epoll_create1(0);
    if (!answers || !file || !connections || poll < 0) fail("start");
    memset(answers, 0, room * sizeof *answers);  // so that none of it is missing when it is written
    prctl(PR_SET_TIMERSLACK, 1000UL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);

    for (int i = 0; i < count; i++) {
        connections[i].socket = connect_to(argv[1]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].socket, &event) != 0) fail("epoll_ctl");
    }
    puts("connected");
    fflush(stdout);
    if (is_held) wait_for('\n');
    int64_t interval = has_rate ? (int64_t)(1e9 * count / rate) : 0;
    int64_t start = now() + (is_held ? 0 : 500000000), end = start + (int64_t)(seconds * 1e9);
    for (int i = 0; i < count; i++) connections[i].due = start + interval * i / count;
    for (int under_way = 0;;) {
        int64_t time = now(), earliest = INT64_MAX;
        // Without a rate, connections are looked through until all have begun; from then on each answer sends the next.
        for (int i = 0; i < count && (has_rate || under_way < count) && time < end; i++) {
            struct connection *connection = &connections[i];
            if (connection->is_waiting || connection->due >= end) continue;
            if (connection->due <= time) {
                send_next(connection);
                under_way++;
            } else if (connection->due < earliest) {
                earliest = connection->due;
            }
        }
        if (under_way == 0 && earliest == INT64_MAX) break;
        if (time > end + 10000000000) fail("answers are missing");
        int64_t pause = earliest == INT64_MAX ? 1000000000 : earliest - time;
        struct timespec timeout = {.tv_sec = pause / 1000000000, .tv_nsec = pause % 1000000000};
        struct epoll_event events[512];
        int ready = epoll_pwait2(poll, events, 512, &timeout, NULL);
        if (ready < 0 && errno != EINTR) fail("epoll_pwait2");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection)) continue;
            time = now();
            if (strncmp(connection->answer, "HTTP/1.1 200", 12)) failures++;
            if (answer_count == room) {
                fputs("paced: more answers than there is room for\n", stderr);
                return 1;
            }
            answers[answer_count][0] = (double)connection->due / 1e9;
            answers[answer_count++][1] = (double)(time - connection->due) / 1e6;
            connection->due = has_rate ? connection->due + interval : time;
            connection->is_waiting = 0;
            under_way--;
            if (connection->due <= time && connection->due < end) {
                send_next(connection);
                under_way++;
            }
        }
    }
    if (fwrite(answers, sizeof *answers, answer_count, file) != answer_count || fclose(file) != 0) fail(argv[8]);
    printf("%ld\n", failures);
    fflush(stdout);
    if (is_held) wait_for(EOF);
    return 0;
}
