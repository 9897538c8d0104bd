/*
 * JAVA_TOOL_OPTIONS and similar variables have options for every JVM that starts. A cluster or a user sets them for
 * other Java programs: an agent, another collector, a debugger's port. The plugin's JVM must not obey them, so libjvm's
 * GOT slot for getenv() points to a function of the shim. The environment itself stays as it is: other threads read it,
 * and children inherit it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* JDK_JAVA_OPTIONS is not in this list: only the java command reads it, and no JVM created through JNI. */
static const char *const READ_BY_JVM[] = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS"};
enum { READ_COUNT = sizeof READ_BY_JVM / sizeof READ_BY_JVM[0] };

/* Set only while this thread creates the JVM, since a host may later use the same library to create its own JVM. */
static _Thread_local bool hidden __attribute__((tls_model("initial-exec")));
static bool in_effect;

static char *getenv_for_jvm(const char *name) {
  for (int i = 0; hidden && i < READ_COUNT; i++) {
    if (strcmp(name, READ_BY_JVM[i]) == 0) {
      return NULL;
    }
  }
  return getenv(name);
}

/* Logs names only, since an agent's options may contain a secret. */
static struct heddle_tool_options list(void) {
  struct heddle_tool_options found = {""};
  size_t used = 0;
  for (int i = 0; i < READ_COUNT; i++) {
    const char *value = getenv(READ_BY_JVM[i]);
    if (value != NULL && *value != '\0') {
      used +=
          (size_t)snprintf(found.text + used, sizeof found.text - used, "%s%s", used == 0 ? "" : ", ", READ_BY_JVM[i]);
    }
  }
  return found;
}

void heddle_tool_options_hide(void *jvm) {
  static const struct heddle_got_slot GETENV = {"getenv", __extension__(void *) getenv_for_jvm};
  hidden = heddle_got_replace(jvm, &GETENV, 1) > 0;
  in_effect = !hidden;
  struct heddle_tool_options found = list();
  if (found.text[0] == '\0') {
    return;
  }
  heddle_log(
      NCCL_LOG_INFO,
      in_effect
          ? "the plugin's JVM obeys %s, which this runtime reads in spite of the plugin; set the plugin's own options "
            "in HEDDLE_JVM_OPTIONS"
          : "the plugin's JVM ignores %s, which is for other Java programs; set the plugin's own options "
            "in HEDDLE_JVM_OPTIONS",
      found.text);
}

void heddle_tool_options_show(void) { hidden = false; }

struct heddle_tool_options heddle_tool_options_in_effect(void) {
  return in_effect ? list() : (struct heddle_tool_options){""};
}
