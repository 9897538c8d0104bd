#include "rendezvous.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

int rendezvous_put(const char *folder, const char *name, int rank, const void *bytes, size_t size) {
  char path[4096], temporary[4200];
  snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
  snprintf(temporary, sizeof temporary, "%s.part", path);
  FILE *file = fopen(temporary, "wb");
  int good = file != NULL && fwrite(bytes, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) good = 0;
  if (good && rename(temporary, path) == 0) return 0;
  fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
  return -1;
}

int rendezvous_get(const char *folder, const char *name, int rank, void *bytes, size_t size, double timeout_seconds) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
  double start = now_seconds();
  do {
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
      size_t got = fread(bytes, 1, size, file);
      fclose(file);
      if (got == size) return 0;
      fprintf(stderr, "%s has %zu bytes instead of %zu\n", path, got, size);
      return -1;
    }
    struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
  } while (now_seconds() - start < timeout_seconds);
  fprintf(stderr, "rank %d did not come to %s within %.0f s\n", rank, folder, timeout_seconds);
  return -1;
}
