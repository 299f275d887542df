#include "response.h"
#include "socket.h"
#include <stdlib.h>
#include <string.h>

enum { most_kept = 256 * 1024 };

static void end_line(Response *response) {
  if (strncmp(response->line, "data: [DONE]", 12) == 0) response->saw_done = true;
  else if (strncmp(response->line, "data:", 5) == 0) response->events += 1;
  response->line_length = 0;
  memset(response->line, 0, sizeof response->line);
}

static void take_stream(Response *response, const char *bytes, size_t count) {
  while (count > 0) {
    const char *end = memchr(bytes, '\n', count);
    size_t part = end ? (size_t)(end - bytes) : count;
    size_t room = sizeof response->line - 1 - response->line_length;
    size_t kept = part < room ? part : room;
    memcpy(response->line + response->line_length, bytes, kept);
    response->line_length += kept;
    if (!end) return;
    end_line(response);
    bytes += part + 1;
    count -= part + 1;
  }
}

static void take_data(void *owner, const char *bytes, size_t count) {
  Response *response = owner;
  if (response->is_stream) take_stream(response, bytes, count);
  else if (buffer_left(&response->kept) + count < most_kept) buffer_add(&response->kept, bytes, count);
}

/** @returns whether the head is complete */
static bool read_head(Response *response, Buffer *in) {
  char *end = end_of_head(in);
  if (!end) return false;
  char *head = buffer_at(in);
  end[-1] = 0; // the last line break is not needed
  response->status = atoi(head + strlen("HTTP/1.1 "));
  const char *type = find_header(head, end, "content-type:");
  const char *coding = find_header(head, end, "transfer-encoding:");
  const char *length = find_header(head, end, "content-length:");
  const char *connection = find_header(head, end, "connection:");
  response->is_stream = type && strncmp(type, "text/event-stream", 17) == 0;
  response->is_chunked = coding != NULL;
  response->closes = connection && strncmp(connection, "close", 5) == 0;
  response->left = length ? (size_t)atoll(length) : 0;
  response->has_head = true;
  buffer_take(in, (size_t)(end - head));
  return true;
}

void response_read(Response *response, Buffer *in) {
  if (!response->has_head && !read_head(response, in)) return;
  if (response->is_chunked) {
    size_t taken = chunked_read(&response->chunked, buffer_at(in), buffer_left(in), take_data, response);
    buffer_take(in, taken);
    response->is_done = response->chunked.state == CHUNK_DONE;
    return;
  }
  size_t part = buffer_left(in) < response->left ? buffer_left(in) : response->left;
  take_data(response, buffer_at(in), part);
  buffer_take(in, part);
  response->left -= part;
  response->is_done = response->left == 0;
}

void response_clear(Response *response) {
  Buffer kept = response->kept;
  buffer_clear(&kept);
  *response = (Response){.kept = kept};
}
