#ifndef DUE_H
#define DUE_H
#include <stdbool.h>
#include <stdint.h>

/** What has to be done for a connection, and when. It is void once the connection has another generation. */
typedef struct {
  int64_t at_us;
  int fd;
  uint32_t generation;
} Due;

void due_add(Due due);
/** @returns false where nothing waits */
bool due_first(Due *first);
void due_remove_first(void);

#endif
