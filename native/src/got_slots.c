/*
 * Replaces functions that one of Java's libraries calls in other libraries. The library's GOT slots, which the dynamic
 * linker has filled, hold the addresses of these functions. If a slot is changed to point to a function of the shim,
 * only this library calls the shim's function; the rest of the process isn't affected.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim.h"

static uintptr_t loaded_address(const struct link_map *map, uintptr_t address) {
  /* glibc has already added the library's load address to this address; other C libraries have not */
  return address < map->l_addr ? map->l_addr + address : address;
}

struct sealed {
  uintptr_t base, from, to;
};

/* Finds the part of a library that the linker makes read-only after relocation (RELRO). */
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

static bool write_slot(const struct sealed *sealed, uintptr_t slot, const void *function) {
  uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t page = slot & -page_bytes;
  bool read_only = page >= (sealed->from & -page_bytes) && page < (sealed->to & -page_bytes);
  if (read_only && mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  __atomic_store_n((uintptr_t *)slot, (uintptr_t)function, __ATOMIC_RELEASE);
  return !read_only || mprotect((void *)page, page_bytes, PROT_READ) == 0;
}

static const struct heddle_got_slot *find(const struct heddle_got_slot *slots, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(slots[i].name, name) == 0) {
      return &slots[i];
    }
  }
  return NULL;
}

int heddle_got_replace(void *library, const struct heddle_got_slot *replacements, int count) {
  struct link_map *map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    return 0;
  }
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  struct {
    uintptr_t at;
    size_t bytes;
  } tables[2] = {{0, 0}, {0, 0}}; /* tables[0]: slots of functions; tables[1]: all other slots */
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)loaded_address(map, entry->d_un.d_ptr); break;
      case DT_STRTAB: names = (const char *)loaded_address(map, entry->d_un.d_ptr); break;
      case DT_JMPREL: tables[0].at = loaded_address(map, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables[0].bytes = entry->d_un.d_val; break;
      case DT_RELA: tables[1].at = loaded_address(map, entry->d_un.d_ptr); break;
      case DT_RELASZ: tables[1].bytes = entry->d_un.d_val; break;
      default: break;
    }
  }
  struct sealed sealed = {.base = map->l_addr};
  dl_iterate_phdr(find_sealed, &sealed);
  int replaced = 0;
  for (int table = 0; symbols != NULL && names != NULL && table < 2; table++) {
    const ElfW(Rela) *slots = (const ElfW(Rela) *)tables[table].at;
    for (size_t i = 0; slots != NULL && i < tables[table].bytes / sizeof *slots; i++) {
      if (ELF64_R_SYM(slots[i].r_info) == 0) {
        continue;
      }
      const char *name = names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name;
      const struct heddle_got_slot *replacement = find(replacements, count, name);
      if (replacement == NULL) {
        continue;
      }
      if (!write_slot(&sealed, map->l_addr + slots[i].r_offset, replacement->function)) {
        return 0;
      }
      replaced++;
    }
  }
  return replaced;
}

void *heddle_library_of_java(const char *jvm, const char *name) {
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s", jvm);
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
      return NULL;
    }
    *slash = '\0';
  }
  strcat(path, "/");
  strcat(path, name);
  /* never closed, since the JVM would open the library a moment later anyway */
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
