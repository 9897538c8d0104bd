#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/*
 * As it starts, Java calls setlocale(LC_ALL, "") and looks at what it got (GetJavaProperties in libjava.so, its only caller).
 * That is the locale of the whole process: a host that never chose one would print decimal commas from then on. To set it
 * back afterwards is too late for a thread that prints meanwhile. So before Java starts, libjava's slot for setlocale is
 * pointed to a function of ours, which gives the asking thread a locale of its own and leaves the process alone.
 */

/* What the thread that makes the machine had, and was given for the time of Java's question. */
static locale_t thread_before;
static locale_t thread_given;

/*
 * Of the environment's locale Java learns how paths are encoded, nothing else, so its own texts are the same everywhere.
 * In the C locale it would take paths for ASCII and lose all other bytes: they are UTF-8 on such hosts.
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

/* Stands in for setlocale in libjava. nl_langinfo(CODESET), which Java asks next, answers for the thread's locale. */
static char *answer(int category, const char *name) {
  static char c[] = "C";
  if (category == LC_ALL && name != NULL && thread_given == NULL) {
    thread_given = locale_of_paths();
    thread_before = thread_given == NULL ? NULL : uselocale(thread_given);
  }
  return c;
}

static bool shield(const char *jvm) {
  static const struct heddle_got_slot SETLOCALE = {"setlocale", __extension__(void *) answer};
  void *library = heddle_library_of_java(jvm, "libjava.so");
  return library != NULL && heddle_got_replace(library, &SETLOCALE, 1) == 1;
}

/* The process's locale by name, where Java's question can't be kept from it. */
static char *kept;

void heddle_locale_keep(const char *jvm) {
  kept = NULL;
  if (!shield(jvm)) {
    const char *now = setlocale(LC_ALL, NULL);
    kept = now == NULL ? NULL : strdup(now);
    heddle_log(NCCL_LOG_INFO, "this Java runtime sets the locale of the process for a moment while it starts");
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
