#ifndef RESPONSE_H
#define RESPONSE_H
#include "buffer.h"
#include "chunked.h"
#include <stdbool.h>

/** Reads one answer of HTTP/1.1, however its bytes are cut, and counts the events of a stream. */
typedef struct {
  bool has_head, is_stream, is_chunked, is_done, saw_done, closes;
  int status;
  size_t left; // of a body with a length
  Chunked chunked;
  /** What has arrived of the head; later the body of what is no stream, up to a bound. */
  Buffer kept;
  /** The beginning of the line that arrives. */
  char line[16];
  size_t line_length;
  /** Events with data so far, without `[DONE]`. */
  int64_t events;
} Response;

/** Takes what has arrived out of the buffer. */
void response_read(Response *response, Buffer *in);
void response_clear(Response *response);

#endif
