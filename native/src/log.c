#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "shim.h"

/* Subsystems of a warning: all of them, as in NCCL's own warnings. Other messages are filtered by NCCL_DEBUG_SUBSYS. */
#define ALL_SUBSYSTEMS (~0UL)

static _Atomic(nccl_logger) current_logger;

void heddle_log_to(nccl_logger logger) {
  if (logger != NULL) {
    atomic_store_explicit(&current_logger, logger, memory_order_release);
  }
}

void heddle_log_sentence(int64_t level, const char *sentence) {
  nccl_logger logger = atomic_load_explicit(&current_logger, memory_order_acquire);
  if (logger != NULL) {
    unsigned long subsystems =
        level == NCCL_LOG_WARN ? ALL_SUBSYSTEMS : (unsigned long)(NCCL_SUBSYSTEM_INIT | NCCL_SUBSYSTEM_NET);
    int runs = heddle_thread.runs;
    heddle_thread.runs = HEDDLE_HOST; /* a fault in the logger belongs to the host, though Java called the logger */
    logger((int)level, subsystems, "heddle", 0, "NET/" HEDDLE_NAME ": %s", sentence);
    heddle_thread.runs = runs;
  } else if (level == NCCL_LOG_WARN) {
    fprintf(stderr, "NET/" HEDDLE_NAME ": %s\n", sentence);
  }
}

void heddle_log(int level, const char *format, ...) {
  char sentence[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  heddle_log_sentence(level, sentence);
}
