#include "buffer.h"
#include "socket.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_add(Buffer *buffer, const char *bytes, size_t count) {
  if (buffer->start == buffer->length) buffer->start = buffer->length = 0;
  if (buffer->length + count + 1 > buffer->capacity) {
    size_t capacity = buffer->capacity ? buffer->capacity : 512;
    while (capacity < buffer->length + count + 1) capacity *= 2;
    buffer->data = realloc(buffer->data, capacity);
    if (!buffer->data) fail("no memory");
    buffer->capacity = capacity;
  }
  memcpy(buffer->data + buffer->length, bytes, count);
  buffer->length += count;
  buffer->data[buffer->length] = 0; // text searches need a terminating zero
}

void buffer_text(Buffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

void buffer_number(Buffer *buffer, int64_t number) {
  char digits[24];
  char *at = digits + sizeof digits;
  uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do *--at = (char)('0' + left % 10);
  while (left /= 10);
  if (number < 0) *--at = '-';
  buffer_add(buffer, at, (size_t)(digits + sizeof digits - at));
}

void buffer_print(Buffer *buffer, const char *format, ...) {
  char text[2048];
  va_list values;
  va_start(values, format);
  int count = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (count < 0 || (size_t)count >= sizeof text) fail("a text is too long to print");
  buffer_add(buffer, text, (size_t)count);
}

void buffer_take(Buffer *buffer, size_t count) {
  buffer->start += count;
  if (buffer->start == buffer->length) buffer->start = buffer->length = 0;
}

void buffer_clear(Buffer *buffer) { buffer->start = buffer->length = 0; }

void buffer_free(Buffer *buffer) {
  free(buffer->data);
  *buffer = (Buffer){0};
}

void buffer_file(Buffer *buffer, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char part[4096];
  size_t count;
  while ((count = fread(part, 1, sizeof part, file)) > 0) buffer_add(buffer, part, count);
  fclose(file);
}
