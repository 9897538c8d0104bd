#include "completions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define MOST ((size_t)1 << 20)

static const char *file_path;
static struct {
  double seconds;
  size_t bytes;
} * kept;
static size_t count;

void completions_keep(const char *path) {
  size_t size = MOST * sizeof *kept;
  kept = malloc(size);
  if (kept == NULL) fail_with(EXIT_BAD_USAGE, "--completions %s: no memory for %zu of them", path, MOST);
  memset(kept, 0, size); /* writes all pages, so that no page fault occurs during a measurement */
  file_path = path;
}

void completed(size_t bytes) {
  if (kept == NULL) return;
  if (count == MOST)
    fail_with(EXIT_BAD_USAGE, "--completions %s: more than %zu sends; send larger ones or less", file_path, MOST);
  kept[count].seconds = now_seconds();
  kept[count++].bytes = bytes;
}

void completions_write(void) {
  if (kept == NULL) return;
  FILE *file = fopen(file_path, "we");
  if (file == NULL) fail_with(EXIT_BAD_USAGE, "--completions %s: %s", file_path, strerror(errno));
  for (size_t i = 0; i < count; i++) fprintf(file, "%.6f %zu\n", kept[i].seconds, kept[i].bytes);
  if (ferror(file) | fclose(file)) fail_with(EXIT_BAD_USAGE, "--completions %s: %s", file_path, strerror(errno));
}
