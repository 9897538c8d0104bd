package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Attachment point of one program on an interface's ingress: a filter of the clsact qdisc
 * (tc-bpf(8), direct action), identified by its priority and handle. An attached program outlives
 * the process. Other filters of the interface aren't changed.
 *
 * @param interfaceIndex index of the interface in the calling thread's network namespace
 * @param priority priority among the interface's filters, 1 to 65535; lower numbers run first
 * @param handle number of the filter among those of its priority
 */
public record TcIngress(int interfaceIndex, int priority, int handle) {
  private static final int INGRESS = 1;
  private static final int REPLACE = 1;

  /* struct bpf_tc_hook: sz 8, ifindex 4, attach_point 4, parent 4 */
  private static final int HOOK_BYTES = 24;

  /* struct bpf_tc_opts: sz 8, prog_fd 4, flags 4, prog_id 4, handle 4, priority 4 */
  private static final int OPTIONS_BYTES = 32;
  private static final int PROGRAM_FD = 8;
  private static final int FLAGS = 12;
  private static final int PROGRAM_ID = 16;
  private static final int HANDLE = 20;
  private static final int PRIORITY = 24;

  private MemorySegment hook(Arena arena) {
    Libbpf.disableOutput();
    MemorySegment hook = Libbpf.options(arena, HOOK_BYTES);
    hook.set(JAVA_INT, 8, interfaceIndex);
    hook.set(JAVA_INT, 12, INGRESS);
    return hook;
  }

  private MemorySegment options(Arena arena) {
    MemorySegment options = Libbpf.options(arena, OPTIONS_BYTES);
    options.set(JAVA_INT, HANDLE, handle);
    options.set(JAVA_INT, PRIORITY, priority);
    return options;
  }

  /**
   * Attaches a program. If another program is attached, it is replaced atomically: each packet
   * passes exactly one of the two.
   *
   * @throws SystemCallException if the kernel refuses
   */
  public void attach(BpfProgram program) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment hook = hook(arena);
      int created = Libbpf.HOOK_CREATE.callInt(hook.address());
      if (created != -Errno.EEXIST) {
        SystemCallException.check("bpf_tc_hook_create on interface " + interfaceIndex, created);
      }
      MemorySegment options = options(arena);
      options.set(JAVA_INT, PROGRAM_FD, program.fileDescriptor());
      options.set(JAVA_INT, FLAGS, REPLACE);
      SystemCallException.check(
          "bpf_tc_attach on interface " + interfaceIndex,
          Libbpf.ATTACH.callInt(hook.address(), options.address()));
    }
  }

  /**
   * Returns the attached program, with its maps.
   *
   * @throws HeddleException if the kernel refuses the query
   */
  public Optional<BpfProgram> find() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment options = options(arena);
      int result = Libbpf.QUERY.callInt(hook(arena).address(), options.address());
      /* EINVAL: the interface has no clsact qdisc at all. */
      if (Libbpf.isAbsent(result) || result == -Errno.EINVAL) {
        return Optional.empty();
      }
      SystemCallException.check("bpf_tc_query of interface " + interfaceIndex, result);
      return Optional.of(BpfProgram.byId(options.get(JAVA_INT, PROGRAM_ID)));
    }
  }

  /**
   * Detaches the program. Returns whether one was attached. The qdisc stays, since other programs
   * may use it.
   */
  public boolean detach() {
    try (Arena arena = Arena.ofConfined()) {
      int result = Libbpf.DETACH.callInt(hook(arena).address(), options(arena).address());
      if (Libbpf.isAbsent(result) || result == -Errno.EINVAL) {
        return false;
      }
      SystemCallException.check("bpf_tc_detach on interface " + interfaceIndex, result);
      return true;
    }
  }
}
