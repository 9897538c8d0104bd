/* C functions for programs of this folder in other languages, which load the file that GUEST_LIBRARY names. */
#include "guest.h"

void *guest_begin(void);
int guest_step(void *link, int fill);
void guest_log(int level, unsigned long subsystems, const char *file, int line, const char *format,
               const char *sentence);

/* A logger like NCCL's; the plugin uses one format with one argument. */
void guest_log(int level, unsigned long subsystems, const char *file, int line, const char *format,
               const char *sentence) {
  guest_logger(level, subsystems, file, line, format, sentence);
}

/* Calls init at the first call, and connects. */
void *guest_begin(void) {
  if (guest_net == NULL) guest_init();
  struct guest_link *link = malloc(sizeof *link);
  guest_connect(link, 1 << 16);
  return link;
}

int guest_step(void *link, int fill) { return guest_message(link, fill); }
