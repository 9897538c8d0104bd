/* What the Python programs of this folder need of C; the file that GUEST_LIBRARY names. */
#include "guest.h"

void guest_log(int level, unsigned long subsystems, const char *file, int line, const char *format,
               const char *sentence);

/* As NCCL's logger; the plugin has one form and one argument. */
void guest_log(int level, unsigned long subsystems, const char *file, int line, const char *format,
               const char *sentence) {
  guest_logger(level, subsystems, file, line, format, sentence);
}
