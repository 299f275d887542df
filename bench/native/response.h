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
  /** The head received so far; later the body, up to a bound, if it is not a stream. */
  Buffer kept;
  /** The beginning of the current line. */
  char line[16];
  size_t line_length;
  /** Events with data so far, without `[DONE]`. */
  int64_t events;
} Response;

/** Parses the received bytes and takes them out of the buffer. */
void response_read(Response *response, Buffer *in);
void response_clear(Response *response);

#endif
