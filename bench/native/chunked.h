#ifndef CHUNKED_H
#define CHUNKED_H
#include <stdbool.h>
#include <stddef.h>

/** Reads a body in HTTP's chunked form, however its bytes are cut. */
typedef struct {
  enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER, CHUNK_DONE } state;
  size_t left;
  bool is_line_empty;
} Chunked;

typedef void (*TakeBytes)(void *owner, const char *bytes, size_t count);

/** Passes the data to `take`. @returns the bytes that belong to the body: all of them until the state is `CHUNK_DONE` */
size_t chunked_read(Chunked *chunked, const char *bytes, size_t count, TakeBytes take, void *owner);

#endif
