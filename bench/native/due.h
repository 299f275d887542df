#ifndef DUE_H
#define DUE_H
#include <stdbool.h>
#include <stdint.h>

/** The next action for a connection, and its time. It is void if the connection has another generation by then. */
typedef struct {
  int64_t at_us;
  int fd;
  uint32_t generation;
} Due;

void due_add(Due due);
/** @returns false if the heap is empty */
bool due_first(Due *first);
void due_remove_first(void);

#endif
