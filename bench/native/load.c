/**
 * Sends the same request over and over, and reports the answers and their times. Help: `load --help`.
 *
 * It prints two lines of JSON: one when the measured time begins, one when it has ended. Then it keeps its connections
 * until its input ends, so that its parent can observe the server at both moments.
 */
#define _GNU_SOURCE
#include "response.h"
#include "samples.h"
#include "socket.h"
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
  int fd; // -1: not open
  bool is_connected, has_first, was_opened, is_over;
  Buffer in, out;
  Response response;
  int64_t asked_us, last_event_us, events_seen;
} Client;

static struct {
  int port, connections, once, fresh;
  double seconds, warm_up, limit, spread;
  const char *expected;
  Buffer request;
} wanted = {.connections = 1, .seconds = 1, .limit = 60};

static Client *clients;
static int poll_fd, clients_over, clients_opened;
static bool is_measured;
static struct {
  int64_t answers, events, refused, cut, wrong, opened_us;
  Samples first, whole, gap;
  char sample[160];
} seen;

static void ask(Client *client);

static void disconnect(Client *client, bool by_reset) {
  if (client->fd < 0) return;
  if (by_reset) setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
  close(client->fd);
  client->fd = -1;
  client->is_connected = false;
  buffer_clear(&client->in);
  buffer_clear(&client->out);
}

/** Each client asks once, or again and again. */
static void go_on(Client *client) {
  if (!wanted.once) return ask(client);
  client->is_over = true;
  clients_over += 1;
}

static void keep_sample(const char *what, const char *text) {
  if (seen.sample[0]) return;
  snprintf(seen.sample, sizeof seen.sample, "%s %.100s", what, text);
  for (char *at = seen.sample; *at; at += 1)
    if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ') *at = '\'';
}

/** Counts a failure. The client asks again only after all others had a turn; otherwise a refused connection would spin. */
static void give_up(Client *client, int64_t *count, const char *what) {
  *count += 1;
  keep_sample(what, client->response.has_head && client->response.kept.data ? buffer_at(&client->response.kept) : "");
  disconnect(client, false);
  client->is_over = true;
  clients_over += 1;
}

static void add_to(Client *client, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = client};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, client->fd, &event);
}

static void ask(Client *client) {
  if (wanted.fresh) disconnect(client, false);
  response_clear(&client->response);
  client->has_first = false;
  client->events_seen = 0;
  client->asked_us = now_us();
  buffer_add(&client->out, buffer_at(&wanted.request), buffer_left(&wanted.request));
  if (client->fd >= 0) {
    if (!write_some(client->fd, &client->out)) give_up(client, &seen.cut, "cut");
    return;
  }
  client->fd = connect_to(wanted.port);
  if (client->fd < 0) return give_up(client, &seen.refused, strerror(errno));
  add_to(client, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
}

/** Counts one gap for events that arrive together: zeros between them would hide the pause before them. */
static void note_events(Client *client, int64_t at_us) {
  int64_t added = client->response.events - client->events_seen;
  if (added == 0) return;
  if (!client->has_first && is_measured) samples_add(&seen.first, at_us - client->asked_us);
  if (client->events_seen > 0 && is_measured) samples_add(&seen.gap, at_us - client->last_event_us);
  if (is_measured) seen.events += added;
  client->events_seen = client->response.events;
  client->last_event_us = at_us;
  client->has_first = true;
}

static bool is_right(const Client *client) {
  const Response *response = &client->response;
  if (response->status != 200) return false;
  if (response->is_stream) return response->saw_done;
  return !wanted.expected || (response->kept.data && strstr(buffer_at(&response->kept), wanted.expected));
}

static void end_answer(Client *client, int64_t at_us) {
  if (!is_right(client)) return give_up(client, &seen.wrong, client->response.status == 200 ? "200" : "refused");
  if (is_measured) {
    seen.answers += 1;
    samples_add(&seen.whole, at_us - client->asked_us);
  }
  if (client->response.closes) disconnect(client, false);
  go_on(client);
}

static void read_answer(Client *client, bool is_closed) {
  ReadResult result;
  int64_t at_us = now_us();
  do {
    result = read_some(client->fd, &client->in);
    if (buffer_left(&client->in) > 0) response_read(&client->response, &client->in);
  } while (result == READ_SOME && is_closed);
  note_events(client, at_us);
  if (!client->response.is_stream && client->response.has_head) client->has_first = true;
  if (client->has_first && !client->was_opened) clients_opened += 1;
  client->was_opened |= client->has_first;
  if (client->response.is_done) end_answer(client, at_us);
  else if (result == READ_END) give_up(client, &seen.cut, "cut");
}

static void handle(Client *client, uint32_t events) {
  if (client->fd < 0) return;
  if (client->is_over) return disconnect(client, false); // the server closes idle connections
  if (!client->is_connected && (events & (EPOLLERR | EPOLLHUP))) return give_up(client, &seen.refused, "not connected");
  if (events & EPOLLOUT) {
    client->is_connected = true;
    if (!write_some(client->fd, &client->out)) return give_up(client, &seen.cut, "cut");
    if (buffer_left(&client->out) == 0) {
      struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = client};
      epoll_ctl(poll_fd, EPOLL_CTL_MOD, client->fd, &event);
    }
  }
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) read_answer(client, events & (EPOLLRDHUP | EPOLLHUP));
}

/** Works until the given time, or until the condition holds. */
static void work_until(int64_t end_us, bool (*is_enough)(void)) {
  struct epoll_event events[512];
  for (int64_t now = now_us(); now < end_us && !(is_enough && is_enough()); now = now_us()) {
    int64_t wait_ms = (end_us - now) / 1000 + 1;
    int count = epoll_wait(poll_fd, events, 512, wait_ms > 100 ? 100 : (int)wait_ms);
    for (int at = 0; at < count; at += 1) handle(events[at].data.ptr, events[at].events);
  }
}

static bool all_are_over(void) { return clients_over >= wanted.connections; }
static bool all_are_opened(void) { return clients_opened + clients_over >= wanted.connections; }

static void print_end(int64_t wall_us) {
  printf("{\"answers\":%lld,\"events\":%lld,\"refused\":%lld,\"cut\":%lld,\"wrong\":%lld,\"unfinished\":%d,", (long long)seen.answers,
         (long long)seen.events, (long long)seen.refused, (long long)seen.cut, (long long)seen.wrong,
         wanted.once ? wanted.connections - clients_over : 0);
  printf("\"wall_us\":%lld,\"opened_us\":%lld,\"sample\":\"%s\",", (long long)wall_us, (long long)seen.opened_us, seen.sample);
  samples_print("first_us", &seen.first);
  printf(",");
  samples_print("whole_us", &seen.whole);
  printf(",");
  samples_print("gap_us", &seen.gap);
  printf("}\n");
  fflush(stdout);
}

/** Keeps reading answers until standard input ends. */
static bool is_input_over(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  char byte;
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

/** Starts all clients at the same time, or evenly spread over some seconds. */
static void begin_clients(int64_t start) {
  for (int at = 0; at < wanted.connections; at += 1) {
    if (wanted.spread > 0) work_until(start + (int64_t)(wanted.spread * 1e6 * at / wanted.connections), NULL);
    ask(&clients[at]);
  }
}

static void measure(void) {
  int64_t start = now_us(), limit = start + (int64_t)(wanted.limit * 1e6);
  is_measured = wanted.once;
  if (wanted.once) printf("{\"begin\":true}\n"), fflush(stdout);
  begin_clients(start);
  work_until(limit, all_are_opened);
  seen.opened_us = now_us() - start;
  if (!wanted.once) {
    work_until(now_us() + (int64_t)(wanted.warm_up * 1e6), NULL);
    printf("{\"begin\":true}\n");
    fflush(stdout);
    is_measured = true;
    start = now_us();
    work_until(start + (int64_t)(wanted.seconds * 1e6), all_are_over);
  } else work_until(limit, all_are_over);
  is_measured = false;
  print_end(now_us() - start);
  work_until(now_us() + 60000000, is_input_over);
}

static const char *const help =
    "usage: load --port PORT --request FILE [--connections N] [--seconds S] [--warm-up S]\n"
    "            [--once] [--fresh] [--expect TEXT] [--limit S] [--spread S]\n"
    "  --request   a whole HTTP/1.1 request\n"
    "  --once      every connection asks once; otherwise again and again, for so many seconds\n"
    "  --fresh     a new connection for every request\n"
    "  --expect    what a plain answer has to contain\n"
    "  --spread    seconds over which the connections begin; otherwise all at the same time\n"
    "  --limit     seconds for all connections to be answered\n";

static bool read_options(int argc, char **argv) {
  const struct option options[] = {{"port", 1, NULL, 'p'},    {"request", 1, NULL, 'r'}, {"connections", 1, NULL, 'c'},
                                   {"seconds", 1, NULL, 's'}, {"warm-up", 1, NULL, 'w'}, {"once", 0, &wanted.once, 1},
                                   {"fresh", 0, &wanted.fresh, 1}, {"expect", 1, NULL, 'e'}, {"limit", 1, NULL, 'l'},
                                   {"spread", 1, NULL, 'd'}, {0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
    if (option == 'p') wanted.port = atoi(optarg);
    else if (option == 'r') buffer_file(&wanted.request, optarg);
    else if (option == 'c') wanted.connections = atoi(optarg);
    else if (option == 's') wanted.seconds = atof(optarg);
    else if (option == 'w') wanted.warm_up = atof(optarg);
    else if (option == 'e') wanted.expected = optarg;
    else if (option == 'd') wanted.spread = atof(optarg);
    else if (option == 'l') wanted.limit = atof(optarg);
    else if (option != 0) return false;
  }
  return wanted.port > 0 && buffer_left(&wanted.request) > 0 && wanted.connections > 0;
}

int main(int argc, char **argv) {
  if (!read_options(argc, argv)) return fputs(help, stderr), 2;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  raise_file_limit();
  errno = 0;
  poll_fd = epoll_create1(0);
  clients = calloc((size_t)wanted.connections, sizeof(Client));
  if (!clients) fail("no memory");
  for (int at = 0; at < wanted.connections; at += 1) clients[at].fd = -1;
  measure();
  for (int at = 0; at < wanted.connections; at += 1) disconnect(&clients[at], true);
  return 0;
}
