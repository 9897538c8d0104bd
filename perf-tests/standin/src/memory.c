/* Protection domains and memory regions. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local.h"
#include "settings.h"

static _Atomic uint64_t locked_bytes;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
  if (refused(context, "ibv_alloc_pd") != 0) return NULL;
  struct domain *domain = calloc(1, sizeof *domain);
  if (domain == NULL) return NULL;
  domain->number = atomic_fetch_add(&fabric->domains, 1) + 1;
  domain->pd.context = context;
  domain->pd.handle = (uint32_t)domain->number;
  return &domain->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) {
  if (atomic_load(&((struct domain *)pd)->users) != 0) return EBUSY;
  free(pd);
  return 0;
}

static uint64_t lockable_bytes(void) {
  uint64_t wanted = UINT64_MAX;
  struct rlimit limit;
  if (settings_locked_bytes(&wanted) != 0) return 0;
  if (wanted != UINT64_MAX) return wanted;
  /*
   * As in the kernel, there is no limit for a process that may lock any amount of memory. Of the processes with
   * CAP_IPC_LOCK, only root's are recognised.
   */
  if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

/*
 * Populates the pages that the kernel would pin. Returns EFAULT if they don't exist, or can't be written although
 * `write` is set.
 */
static int populate(void *address, size_t length, bool write) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = (uintptr_t)address & ~(page - 1);
  uintptr_t end = ((uintptr_t)address + length + page - 1) & ~(page - 1);
  if (madvise((void *)begin, end - begin, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0) return 0;
  if (errno != EINVAL) return errno == ENOMEM || errno == EFAULT ? EFAULT : errno;
  /* Either the memory is read-only, or the kernel is older than 5.14 and supports neither advice. */
  if (write && madvise((void *)begin, end - begin, MADV_POPULATE_READ) == 0) return EFAULT;
  unsigned char *present = malloc((end - begin) / page);
  if (present == NULL) return ENOMEM;
  int error = mincore((void *)begin, end - begin, present) == 0 ? 0 : EFAULT;
  free(present);
  return error;
}

static uint32_t take_region(void) {
  for (uint32_t tries = 0; tries < REGIONS; tries++) {
    uint32_t slot = (uint32_t)(atomic_fetch_add(&fabric->regions_hint, 1) % REGIONS), nobody = 0;
    if (slot != 0 && atomic_compare_exchange_strong(&fabric->regions[slot].owner, &nobody, self)) return slot;
  }
  return 0;
}

static int check_access(unsigned access) {
  const unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  if ((access & ~(known | IBV_ACCESS_OPTIONAL_RANGE)) != 0) return EOPNOTSUPP;
  if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return EINVAL;
  }
  return 0;
}

static struct ibv_mr *register_region(const char *verb, struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
                                      unsigned access) {
  if (refused(pd->context, verb) != 0) return NULL;
  int error = check_access(access);
  if (error == 0 && (length == 0 || (uintptr_t)address + length < (uintptr_t)address || iova + length < iova))
    error = EINVAL;
  uint64_t most = lockable_bytes();
  if (error == 0 && (length > most || atomic_load(&locked_bytes) > most - length)) error = ENOMEM;
  if (error == 0) error = populate(address, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0);
  struct region *region = error == 0 ? calloc(1, sizeof *region) : NULL;
  uint32_t slot = region == NULL ? 0 : take_region();
  if (slot == 0) {
    free(region);
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  atomic_fetch_add(&locked_bytes, length);
  struct shared_region *shared = &fabric->regions[slot];
  shared->access = access;
  shared->address = (uintptr_t)address;
  shared->length = length;
  shared->iova = iova;
  shared->domain = ((struct domain *)pd)->number;
  uint32_t key = slot << 8 | (atomic_fetch_add(&shared->generation, 1) & 0xff);
  atomic_store(&shared->key, key);
  atomic_fetch_add(&((struct domain *)pd)->users, 1);
  region->slot = slot;
  region->mr = (struct ibv_mr){
      .context = pd->context, .pd = pd, .addr = address, .length = length, .handle = slot, .lkey = key, .rkey = key};
  return &region->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  return register_region("ibv_reg_mr", pd, address, length, (uintptr_t)address, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access) {
  return register_region("ibv_reg_mr_iova", pd, address, length, iova, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access) {
  return register_region("ibv_reg_mr_iova2", pd, address, length, iova, access);
}

/*
 * Registers a dma-buf, which gives access to memory outside the process's address space. Here any mappable file can
 * serve as a dma-buf (a memfd, a udmabuf). The file stays mapped while it is registered, so that senders can copy to
 * it.
 */
static struct ibv_mr *register_file(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int file,
                                    unsigned access) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = offset & ~(page - 1);
  struct stat status;
  if (fstat(file, &status) != 0) return NULL;
  if (length == 0 || offset + length < offset || (status.st_size > 0 && offset + length > (uint64_t)status.st_size)) {
    errno = EINVAL;
    return NULL;
  }
  size_t mapped = length + (size_t)(offset - begin);
  char *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)begin);
  if (memory == MAP_FAILED) return NULL;
  struct ibv_mr *mr = register_region("ibv_reg_dmabuf_mr", pd, memory + (offset - begin), length, iova, access);
  if (mr == NULL) {
    int error = errno;
    munmap(memory, mapped);
    errno = error;
    return NULL;
  }
  struct region *region = (struct region *)mr;
  region->mapping = memory;
  region->mapped = mapped;
  return mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int file,
                                 int access) {
  if (settings_dma_buf()) return register_file(pd, offset, length, iova, file, (unsigned)access);
  /*
   * Refuses before it checks the descriptor, as the kernel does: callers probe for support with an invalid descriptor.
   */
  if (refused(pd->context, "ibv_reg_dmabuf_mr") == 0) errno = EOPNOTSUPP;
  return NULL;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, size_t length, int access) {
  (void)mr, (void)flags, (void)pd, (void)address, (void)length, (void)access;
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_CMD;
}

/* Deregisters a region. Returns only when no thread copies to or from it any more. */
int ibv_dereg_mr(struct ibv_mr *mr) {
  int error = refused(mr->context, "ibv_dereg_mr");
  if (error != 0) return error;
  struct region *region = (struct region *)mr;
  struct shared_region *shared = &fabric->regions[region->slot];
  atomic_store(&shared->key, 0);
  for (uint32_t i = 0; i < PAIRS; i++) {
    struct shared_pair *pair = &fabric->pairs[i];
    for (uint32_t tries = 1; atomic_load(&pair->copying) == region->slot; tries++) {
      sched_yield();
      if (tries % 1024 == 0 && !is_process_alive(atomic_load(&pair->owner))) break;
    }
  }
  atomic_store(&shared->owner, 0);
  atomic_fetch_sub(&locked_bytes, mr->length);
  atomic_fetch_sub(&((struct domain *)mr->pd)->users, 1);
  if (region->mapping != NULL) munmap(region->mapping, region->mapped);
  free(region);
  return 0;
}

static bool allows(const struct shared_region *region, uint64_t domain, uint64_t address, uint64_t length,
                   uint32_t access) {
  return region->domain == domain && (region->access & access) == access && address >= region->iova &&
         address - region->iova <= region->length && length <= region->length - (address - region->iova);
}

/*
 * Converts an address in a request to the memory's real address: a region may be registered under another address
 * (iova).
 */
static void translate(const struct shared_region *region, uint64_t *address) {
  *address = *address - region->iova + region->address;
}

bool region_allows(uint32_t key, uint64_t domain, uint64_t *address, uint64_t length, uint32_t access) {
  struct shared_region *region = &fabric->regions[key >> 8 & (REGIONS - 1)];
  if (key == 0 || atomic_load(&region->key) != key || !allows(region, domain, *address, length, access)) return false;
  translate(region, address);
  return true;
}

bool hold_region(struct shared_pair *pair, uint32_t key, uint64_t domain, uint64_t *address, uint64_t length,
                 uint32_t access) {
  uint32_t slot = key >> 8 & (REGIONS - 1);
  struct shared_region *region = &fabric->regions[slot];
  /* Pairs with ibv_dereg_mr: either that call's thread sees this store, or this thread sees that the key is gone. */
  atomic_store(&pair->copying, slot);
  if (key != 0 && atomic_load(&region->key) == key && allows(region, domain, *address, length, access)) {
    translate(region, address);
    return true;
  }
  atomic_store_explicit(&pair->copying, 0, memory_order_release);
  return false;
}
