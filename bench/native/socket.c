#define _GNU_SOURCE
#include "socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void fail(const char *what) {
  fprintf(stderr, "%s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void raise_file_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int listen_on(int *port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = loopback(*port);
  socklen_t length = sizeof address;
  if (bind(fd, (struct sockaddr *)&address, length) != 0) fail("cannot bind");
  if (listen(fd, 16384) != 0) fail("cannot listen");
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) fail("cannot tell the port");
  *port = ntohs(address.sin_port);
  return fd;
}

int connect_to(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  set_no_delay(fd);
  struct sockaddr_in address = loopback(port);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) return fd;
  close(fd);
  return -1;
}

void set_no_delay(int fd) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

ReadResult read_some(int fd, Buffer *into) {
  static char part[256 * 1024];
  ssize_t count = read(fd, part, sizeof part);
  if (count > 0) return buffer_add(into, part, (size_t)count), READ_SOME;
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? READ_NOTHING : READ_END;
}

bool write_some(int fd, Buffer *from) {
  while (buffer_left(from) > 0) {
    ssize_t count = send(fd, buffer_at(from), buffer_left(from), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    buffer_take(from, (size_t)count);
  }
  return true;
}

const char *find_header(const char *head, const char *end, const char *name) {
  size_t length = strlen(name);
  for (const char *line = head; line && line < end; line = strchr(line, '\n')) {
    if (*line == '\n') line += 1;
    if (strncasecmp(line, name, length) != 0) continue;
    line += length;
    while (*line == ' ') line += 1;
    return line;
  }
  return NULL;
}

char *end_of_head(const Buffer *buffer) {
  if (buffer_left(buffer) == 0) return NULL;
  char *found = memmem(buffer_at(buffer), buffer_left(buffer), "\r\n\r\n", 4);
  return found ? found + 4 : NULL;
}
