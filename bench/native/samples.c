#include "samples.h"
#include "socket.h"
#include <stdio.h>
#include <stdlib.h>

void samples_add(Samples *samples, int64_t us) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity ? samples->capacity * 2 : 4096;
    samples->values = realloc(samples->values, samples->capacity * sizeof *samples->values);
    if (!samples->values) fail("no memory");
  }
  samples->values[samples->count++] = us < 0 ? 0 : (uint32_t)us;
}

static int compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

static uint32_t quantile(const Samples *samples, double share) {
  if (samples->count == 0) return 0;
  return samples->values[(size_t)((double)(samples->count - 1) * share)];
}

void samples_print(const char *name, Samples *samples) {
  if (samples->count > 0) qsort(samples->values, samples->count, sizeof *samples->values, compare);
  printf("\"%s\":{\"count\":%zu,\"p50\":%u,\"p90\":%u,\"p99\":%u,\"max\":%u}", name, samples->count,
         quantile(samples, 0.5), quantile(samples, 0.9), quantile(samples, 0.99), quantile(samples, 1));
}
