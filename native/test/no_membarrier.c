/* A container's filter forbids membarrier(2), which the JVM would otherwise use. */
#include "harness.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int main(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "no filter");
  CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) == -1, "membarrier works in spite of the filter");
  int errors = capture_stderr();
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS && warnings == 0, "%d warnings", warnings);
  stderr_must_be_empty(errors);
  printf("ok: started without membarrier\n");
  return 0;
}
