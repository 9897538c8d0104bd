/*
 * JAVA_TOOL_OPTIONS and the like are options for every Java machine that starts under them. A cluster or a user sets them for
 * programs in Java: an agent, another collector, a debugger's port. Our machine is none of these programs, so it doesn't see
 * them: libjvm's slot for getenv() points to a function of ours. The environment itself, which other threads read and children
 * inherit, is left as it is.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* JDK_JAVA_OPTIONS is read by the java command alone, never by a machine that JNI makes. */
static const char *const READ_BY_A_MACHINE[] = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS"};
enum { READ_COUNT = sizeof READ_BY_A_MACHINE / sizeof READ_BY_A_MACHINE[0] };

/* Only while this thread makes our machine: the library may be a host's too, who makes one later. */
static _Thread_local bool hidden __attribute__((tls_model("initial-exec")));
static bool obeyed;

static char *environment_of_machine(const char *name) {
  for (int i = 0; hidden && i < READ_COUNT; i++) {
    if (strcmp(name, READ_BY_A_MACHINE[i]) == 0) {
      return NULL;
    }
  }
  return getenv(name);
}

/* Their names alone: the options of an agent may hold its key. */
static struct heddle_tool_options list(void) {
  struct heddle_tool_options found = {""};
  size_t used = 0;
  for (int i = 0; i < READ_COUNT; i++) {
    const char *value = getenv(READ_BY_A_MACHINE[i]);
    if (value != NULL && *value != '\0') {
      used += (size_t)snprintf(found.text + used, sizeof found.text - used, "%s%s", used == 0 ? "" : ", ",
                               READ_BY_A_MACHINE[i]);
    }
  }
  return found;
}

void heddle_tool_options_hide(void *jvm) {
  static const struct heddle_got_slot GETENV = {"getenv", __extension__(void *) environment_of_machine};
  hidden = heddle_got_replace(jvm, &GETENV, 1) > 0;
  obeyed = !hidden;
  struct heddle_tool_options found = list();
  if (found.text[0] == '\0') {
    return;
  }
  heddle_log(NCCL_LOG_INFO,
             obeyed ? "the plugin's Java obeys %s, since this runtime can't be kept from it; the plugin's own options "
                      "stand in HEDDLE_JVM_OPTIONS"
                    : "the plugin's Java leaves %s aside, which other Java programs obey; the plugin's own options "
                      "stand in HEDDLE_JVM_OPTIONS",
             found.text);
}

void heddle_tool_options_show(void) { hidden = false; }

struct heddle_tool_options heddle_tool_options_obeyed(void) {
  return obeyed ? list() : (struct heddle_tool_options){""};
}
