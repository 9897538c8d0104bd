#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/*
 * At its start, Java calls setlocale(LC_ALL, "") and reads the result. The only caller is GetJavaProperties in
 * libjava.so. The call sets the locale of the whole process: a host that never chose a locale would print decimal
 * commas from then on. A later restoration would be too late for a thread that prints meanwhile. So before Java starts,
 * libjava's GOT slot for setlocale is pointed to a function of the shim, which sets only the calling thread's locale.
 */

/* Locales of the thread that creates the JVM: before Java's start (thread_before) and during it (thread_given). */
static locale_t thread_before;
static locale_t thread_given;

/*
 * Returns the locale for Java's start: only the encoding of the environment's locale, or UTF-8 if that locale is C.
 * Java needs the encoding for paths; its own texts stay the same everywhere. In the C locale, Java would treat paths as
 * ASCII and lose all other bytes; on hosts with that locale, paths are UTF-8.
 */
static locale_t locale_of_paths(void) {
  locale_t wanted = newlocale(LC_CTYPE_MASK, "", NULL);
  if (wanted != NULL && strcmp(nl_langinfo_l(CODESET, wanted), "ANSI_X3.4-1968") != 0) {
    return wanted;
  }
  locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
  if (unicode == NULL) {
    return wanted;
  }
  if (wanted != NULL) {
    freelocale(wanted);
  }
  return unicode;
}

/*
 * Replaces setlocale in libjava. Java then calls nl_langinfo(CODESET), which returns the value of the thread's locale.
 */
static char *thread_setlocale(int category, const char *name) {
  static char c[] = "C";
  if (category == LC_ALL && name != NULL && thread_given == NULL) {
    thread_given = locale_of_paths();
    thread_before = thread_given == NULL ? NULL : uselocale(thread_given);
  }
  return c;
}

static bool hook_setlocale(const char *jvm) {
  static const struct heddle_got_slot SETLOCALE = {"setlocale", __extension__(void *) thread_setlocale};
  void *library = heddle_library_of_java(jvm, "libjava.so");
  return library != NULL && heddle_got_replace(library, &SETLOCALE, 1) == 1;
}

/* Name of the process's locale, to be restored if the call of setlocale can't be replaced in this Java runtime. */
static char *kept;

void heddle_locale_keep(const char *jvm) {
  kept = NULL;
  if (!hook_setlocale(jvm)) {
    const char *now = setlocale(LC_ALL, NULL);
    kept = now == NULL ? NULL : strdup(now);
    heddle_log(NCCL_LOG_INFO, "this Java runtime changes the locale of the process briefly while it starts");
  }
}

void heddle_locale_restore(void) {
  if (thread_given != NULL) {
    uselocale(thread_before);
    freelocale(thread_given);
    thread_given = NULL;
  }
  if (kept != NULL) {
    const char *now = setlocale(LC_ALL, NULL);
    if (now == NULL || strcmp(now, kept) != 0) {
      setlocale(LC_ALL, kept);
    }
    free(kept);
    kept = NULL;
  }
}
