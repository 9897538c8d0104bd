#include <dlfcn.h>
#include <elf.h>
#include <langinfo.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static uintptr_t in_memory(const struct link_map *map, uintptr_t address) {
  return address < map->l_addr ? map->l_addr + address : address; /* glibc has added the base already, others don't */
}

struct sealed {
  uintptr_t base, from, to;
};

/* The part of a library that the linker makes read-only when it has filled it in. */
static int find_sealed(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  struct sealed *sealed = out;
  for (int i = 0; info->dlpi_addr == sealed->base && i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
      sealed->from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      sealed->to = sealed->from + info->dlpi_phdr[i].p_memsz;
      return 1;
    }
  }
  return 0;
}

static bool point_to_answer(const struct link_map *map, uintptr_t slot) {
  uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sealed sealed = {.base = map->l_addr};
  dl_iterate_phdr(find_sealed, &sealed);
  uintptr_t page = slot & -page_bytes;
  bool read_only = page >= (sealed.from & -page_bytes) && page < (sealed.to & -page_bytes);
  if (read_only && mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  __atomic_store_n((uintptr_t *)slot, (uintptr_t)answer, __ATOMIC_RELEASE);
  return !read_only || mprotect((void *)page, page_bytes, PROT_READ) == 0;
}

/* True where at least one slot was there, and all were pointed to answer(). */
static bool replace_setlocale(const struct link_map *map) {
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  struct {
    uintptr_t at;
    size_t bytes;
  } tables[2] = {{0, 0}, {0, 0}}; /* slots of functions; all other slots */
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)in_memory(map, entry->d_un.d_ptr); break;
      case DT_STRTAB: names = (const char *)in_memory(map, entry->d_un.d_ptr); break;
      case DT_JMPREL: tables[0].at = in_memory(map, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables[0].bytes = entry->d_un.d_val; break;
      case DT_RELA: tables[1].at = in_memory(map, entry->d_un.d_ptr); break;
      case DT_RELASZ: tables[1].bytes = entry->d_un.d_val; break;
      default: break;
    }
  }
  int found = 0;
  for (int table = 0; symbols != NULL && names != NULL && table < 2; table++) {
    const ElfW(Rela) *slots = (const ElfW(Rela) *)tables[table].at;
    for (size_t i = 0; slots != NULL && i < tables[table].bytes / sizeof *slots; i++) {
      const ElfW(Sym) *symbol = symbols + ELF64_R_SYM(slots[i].r_info);
      if (ELF64_R_SYM(slots[i].r_info) != 0 && strcmp(names + symbol->st_name, "setlocale") == 0) {
        if (!point_to_answer(map, map->l_addr + slots[i].r_offset)) {
          return false;
        }
        found++;
      }
    }
  }
  return found > 0;
}

/* jvm is <home>/lib/server/libjvm.so and loaded, so that libjava.so, which names it, finds it. */
static bool shield(const char *jvm) {
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s", jvm);
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(path, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  strcat(path, "/libjava.so");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* for good: the machine would open it a moment later */
  struct link_map *map;
  return library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && replace_setlocale(map);
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

void heddle_locale_give_back(void) {
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
