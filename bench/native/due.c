#include "due.h"
#include "socket.h"
#include <stdlib.h>

// A binary heap.

static Due *heap;
static int count, capacity;

static void swap(int a, int b) {
  Due due = heap[a];
  heap[a] = heap[b];
  heap[b] = due;
}

void due_add(Due due) {
  if (count == capacity) {
    capacity = capacity ? capacity * 2 : 1024;
    heap = realloc(heap, (size_t)capacity * sizeof(Due));
    if (!heap) fail("no memory");
  }
  int at = count++;
  heap[at] = due;
  for (; at > 0 && heap[at].at_us < heap[(at - 1) / 2].at_us; at = (at - 1) / 2) swap(at, (at - 1) / 2);
}

bool due_first(Due *first) {
  if (count == 0) return false;
  *first = heap[0];
  return true;
}

void due_remove_first(void) {
  heap[0] = heap[--count];
  for (int at = 0;;) {
    int least = at;
    for (int child = 2 * at + 1; child <= 2 * at + 2 && child < count; child += 1)
      if (heap[child].at_us < heap[least].at_us) least = child;
    if (least == at) return;
    swap(at, least);
    at = least;
  }
}
