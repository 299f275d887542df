#ifndef SAMPLES_H
#define SAMPLES_H
#include <stddef.h>
#include <stdint.h>

/** A list of durations in microseconds. */
typedef struct {
  uint32_t *values;
  size_t count, capacity;
} Samples;

void samples_add(Samples *samples, int64_t us);
/** Writes `"name":{"count":…,"p50":…,"p90":…,"p99":…,"max":…}` to standard output. */
void samples_print(const char *name, Samples *samples);

#endif
