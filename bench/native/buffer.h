#ifndef BUFFER_H
#define BUFFER_H
#include <stddef.h>
#include <stdint.h>

/** Bytes that grow. `start` is the first byte that has not been taken. */
typedef struct {
  char *data;
  size_t start, length, capacity;
} Buffer;

void buffer_add(Buffer *buffer, const char *bytes, size_t count);
void buffer_text(Buffer *buffer, const char *text);
void buffer_number(Buffer *buffer, int64_t number);
void buffer_print(Buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Forgets the first bytes. */
void buffer_take(Buffer *buffer, size_t count);
void buffer_clear(Buffer *buffer);
void buffer_free(Buffer *buffer);
static inline char *buffer_at(const Buffer *buffer) { return buffer->data + buffer->start; }
static inline size_t buffer_left(const Buffer *buffer) { return buffer->length - buffer->start; }
/** Adds a whole file. Ends the program if the file cannot be read. */
void buffer_file(Buffer *buffer, const char *path);

#endif
