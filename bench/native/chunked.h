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

/** Hands the data on. @returns the bytes that belong to the body; less than given only once it is `CHUNK_DONE` */
size_t chunked_read(Chunked *chunked, const char *bytes, size_t count, TakeBytes take, void *owner);

#endif
