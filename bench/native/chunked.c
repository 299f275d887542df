#include "chunked.h"

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_byte(Chunked *chunked, char c) {
  switch (chunked->state) {
    case CHUNK_SIZE:
      if (c == '\n') {
        chunked->state = chunked->left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
        chunked->is_line_empty = true;
      } else if (digit_of(c) >= 0) chunked->left = chunked->left * 16 + (size_t)digit_of(c);
      return;
    case CHUNK_END:
      if (c == '\n') chunked->state = CHUNK_SIZE;
      return;
    case CHUNK_TRAILER:
      if (c == '\n' && chunked->is_line_empty) chunked->state = CHUNK_DONE;
      else if (c == '\n') chunked->is_line_empty = true;
      else if (c != '\r') chunked->is_line_empty = false;
      return;
    case CHUNK_DATA:
    case CHUNK_DONE:
      return;
  }
}

size_t chunked_read(Chunked *chunked, const char *bytes, size_t count, TakeBytes take, void *owner) {
  size_t at = 0;
  while (at < count && chunked->state != CHUNK_DONE) {
    if (chunked->state != CHUNK_DATA) {
      read_byte(chunked, bytes[at++]);
      continue;
    }
    size_t part = chunked->left < count - at ? chunked->left : count - at;
    take(owner, bytes + at, part);
    at += part;
    chunked->left -= part;
    if (chunked->left == 0) chunked->state = CHUNK_END;
  }
  return at;
}
