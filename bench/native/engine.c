/**
 * An engine without a model: it speaks the protocol of vLLM and writes the same words to every caller, at a pace that is set.
 *
 *   engine --model NAME --words FILE [--port PORT]
 *
 * It prints its port. `POST /control?interval_us=N&silent=0|1` sets the pace of all later answers: a token every N
 * microseconds (0: all at once), or silence after the first token.
 */
#define _GNU_SOURCE
#include "answer.h"
#include "chunked.h"
#include "due.h"
#include "socket.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <signal.h>
#include <unistd.h>

typedef struct {
  Buffer in, out;
  Answer answer;
  bool is_open, is_answering, waits_to_write;
  uint32_t generation;
} Connection;

enum { most_connections = 65536 };
static Connection connections[most_connections];
static Script script;
static struct { int64_t interval_us; bool is_silent; } pace;
static struct { int64_t answers, completed, aborted; int open; } counted;
static int poll_fd;

static void close_connection(int fd) {
  Connection *connection = &connections[fd];
  if (connection->is_answering) counted.aborted += 1;
  buffer_free(&connection->in);
  buffer_free(&connection->out);
  *connection = (Connection){.generation = connection->generation + 1};
  counted.open -= 1;
  close(fd);
}

/** Sends the waiting bytes. @returns false if the connection had to be closed */
static bool flush(int fd) {
  Connection *connection = &connections[fd];
  if (!write_some(fd, &connection->out)) return close_connection(fd), false;
  bool waits = buffer_left(&connection->out) > 0;
  if (waits == connection->waits_to_write) return true;
  connection->waits_to_write = waits;
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (waits ? EPOLLOUT : 0), .data.fd = fd};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, fd, &event);
  return true;
}

static void call_at(int fd, int64_t at_us) {
  due_add((Due){.at_us = at_us, .fd = fd, .generation = connections[fd].generation});
}

static void finish(Connection *connection) {
  connection->is_answering = false;
  counted.completed += 1;
}

/** Writes the part of an answer that is due. @param due_us the time at which it was due */
static void go_on(int fd, int64_t due_us) {
  Connection *connection = &connections[fd];
  Answer *answer = &connection->answer;
  if (!answer->streams) {
    write_whole(&connection->out, &script, answer);
    return finish(connection);
  }
  if (answer->written == 0) write_stream_head(&connection->out);
  do write_token(&connection->out, &script, answer);
  while (pace.interval_us == 0 && !pace.is_silent && answer->written < answer->wanted);
  if (answer->written == answer->wanted) finish(connection);
  else if (!pace.is_silent) call_at(fd, due_us + pace.interval_us);
}

static void begin_answer(int fd, const char *path, const char *body) {
  Connection *connection = &connections[fd];
  connection->answer = read_request(path, body, ++counted.answers);
  connection->is_answering = true;
  // Like a real engine, a plain answer is sent when its last token is ready.
  int64_t wait_us = pace.interval_us * (connection->answer.streams ? 1 : connection->answer.wanted);
  if (wait_us == 0) go_on(fd, now_us());
  else call_at(fd, now_us() + wait_us);
}

static void control(const char *query, Buffer *json) {
  const char *interval = strstr(query, "interval_us=");
  const char *silent = strstr(query, "silent=");
  if (interval) pace.interval_us = atoll(interval + strlen("interval_us="));
  if (silent) pace.is_silent = silent[strlen("silent=")] == '1';
  buffer_print(json, "{\"open\":%d,\"answers\":%lld,\"completed\":%lld,\"aborted\":%lld}", counted.open,
               (long long)counted.answers, (long long)counted.completed, (long long)counted.aborted);
}

static void answer_request(int fd, const char *head, const char *body) {
  Connection *connection = &connections[fd];
  const char *path = strchr(head, ' ');
  path = path ? path + 1 : "/";
  if (*head == 'P' && strncmp(path, "/v1/c", 5) == 0) return begin_answer(fd, strndupa(path, 64), body);
  Buffer json = {0};
  int status = 200;
  if (strncmp(path, "/v1/models", 10) == 0) write_models(&json, &script);
  else if (strncmp(path, "/version", 8) == 0) buffer_text(&json, "{\"version\":\"0.32.0\"}");
  else if (strncmp(path, "/control", 8) == 0) control(path, &json);
  else if (strncmp(path, "/health", 7) != 0) {
    buffer_text(&json, "{\"detail\":\"Not Found\"}");
    status = 404;
  }
  write_json(&connection->out, status, &json);
  buffer_free(&json);
}

static void take_body(void *body, const char *bytes, size_t count) { buffer_add(body, bytes, count); }

/** Takes one request out of the received bytes. @returns whether there was a complete one */
static bool take_request(int fd) {
  Connection *connection = &connections[fd];
  char *end = end_of_head(&connection->in);
  if (!end) return false;
  char *head = buffer_at(&connection->in);
  size_t head_length = (size_t)(end - head), arrived = buffer_left(&connection->in) - head_length;
  const char *length = find_header(head, end, "content-length:");
  const char *coding = find_header(head, end, "transfer-encoding:");
  Buffer body = {0};
  size_t body_length = length ? (size_t)atoll(length) : 0;
  if (coding) {
    Chunked chunked = {0};
    body_length = chunked_read(&chunked, end, arrived, take_body, &body);
    if (chunked.state != CHUNK_DONE) return buffer_free(&body), false;
  } else if (arrived < body_length) return false;
  else buffer_add(&body, end, body_length);
  char *own_head = strndup(head, head_length);
  buffer_take(&connection->in, head_length + body_length);
  answer_request(fd, own_head, body.data);
  free(own_head);
  buffer_free(&body);
  return true;
}

static void read_requests(int fd) {
  Connection *connection = &connections[fd];
  if (read_some(fd, &connection->in) == READ_END) return close_connection(fd);
  while (!connection->is_answering && take_request(fd)) continue;
  if (buffer_left(&connection->in) == 0) buffer_free(&connection->in);
  flush(fd);
}

static void accept_all(int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    if (fd >= most_connections) fail("too many connections");
    set_no_delay(fd);
    connections[fd].is_open = true;
    counted.open += 1;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

/** Runs all actions that are due, and sets the timer for the next one. */
static void do_due(int timer) {
  Due due;
  while (due_first(&due) && due.at_us <= now_us()) {
    due_remove_first();
    Connection *connection = &connections[due.fd];
    if (connection->generation != due.generation || !connection->is_answering) continue;
    go_on(due.fd, due.at_us);
    if (!flush(due.fd) || connection->is_answering) continue;
    while (!connection->is_answering && take_request(due.fd)) flush(due.fd);
  }
  struct itimerspec when = {0};
  if (due_first(&due)) {
    when.it_value.tv_sec = due.at_us / 1000000;
    when.it_value.tv_nsec = due.at_us % 1000000 * 1000;
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void serve(int listener) {
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  poll_fd = epoll_create1(0);
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, timer, &(struct epoll_event){.events = EPOLLIN, .data.fd = timer});
  struct epoll_event events[512];
  for (;;) {
    int count = epoll_wait(poll_fd, events, 512, -1);
    for (int at = 0; at < count; at += 1) {
      int fd = events[at].data.fd;
      uint64_t expired;
      if (fd == listener) accept_all(listener);
      else if (fd == timer) (void)!read(timer, &expired, sizeof expired);
      else if (!connections[fd].is_open) continue;
      else if (events[at].events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) close_connection(fd);
      else if (events[at].events & EPOLLIN) read_requests(fd);
      else flush(fd);
    }
    do_due(timer);
  }
}

int main(int argc, char **argv) {
  const struct option options[] = {
      {"model", required_argument, NULL, 'm'}, {"words", required_argument, NULL, 'w'},
      {"port", required_argument, NULL, 'p'}, {0}};
  const char *model = NULL, *words = NULL;
  int port = 0, option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
    if (option == 'm') model = optarg;
    else if (option == 'w') words = optarg;
    else if (option == 'p') port = atoi(optarg);
    else return 2;
  }
  if (!model || !words) return fprintf(stderr, "usage: engine --model NAME --words FILE [--port PORT]\n"), 2;
  prctl(PR_SET_PDEATHSIG, SIGTERM); // ends with the bench
  raise_file_limit();
  script = read_script(model, words);
  int listener = listen_on(&port);
  printf("%d\n", port);
  fflush(stdout);
  errno = 0;
  serve(listener);
}
