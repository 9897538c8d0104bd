package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** Loader of BPF programs compiled by clang. */
public final class BpfObject {
  private static final int LOG_BYTES = 1 << 18;
  private static final int LOG_LINES = 12;

  /* struct bpf_object_open_opts, with kernel_log_buf at 56, kernel_log_size and kernel_log_level. */
  private static final int OPEN_OPTIONS_BYTES = 80;

  private BpfObject() {}

  /**
   * Returns why no program can be loaded on this host: libbpf or a privilege is missing. Empty if
   * programs can be loaded.
   */
  public static Optional<String> reasonUnavailable() {
    Optional<String> missing = Libbpf.reasonMissing();
    if (missing.isPresent()) {
      return missing;
    }
    return ProcessCalls.geteuid() == 0
        ? Optional.empty()
        : Optional.of("loading a BPF program needs root (CAP_BPF, CAP_NET_ADMIN, CAP_SYS_ADMIN)");
  }

  /**
   * Loads all programs and maps of an object, and returns the program of this name.
   *
   * @param elf content of the ELF object file
   * @throws HeddleException if the kernel rejects the program; the message has the last lines of
   *     the verifier's log
   */
  public static BpfProgram load(byte[] elf, String program) {
    Libbpf.disableOutput();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(elf.length, 16);
      MemorySegment.copy(elf, 0, bytes, JAVA_BYTE, 0, elf.length);
      MemorySegment log = arena.allocate(LOG_BYTES);
      MemorySegment options = Libbpf.options(arena, OPEN_OPTIONS_BYTES);
      options.set(JAVA_LONG, 8, Libbpf.name(arena, program).address());
      options.set(JAVA_LONG, 56, log.address());
      options.set(JAVA_LONG, 64, LOG_BYTES);
      long object =
          Libbpf.call(Libbpf.OPEN_MEM, bytes.address(), (long) elf.length, options.address());
      int error = (int) Libbpf.call(Libbpf.GET_ERROR, object);
      if (object == 0 || error != 0) {
        throw new SystemCallException("bpf_object__open_mem", error == 0 ? Errno.EINVAL : -error);
      }
      try {
        int result = Libbpf.callInt(Libbpf.LOAD, object);
        if (result < 0) {
          throw new HeddleException(
              "the kernel rejects the program "
                  + program
                  + ": "
                  + Errno.describe(-result)
                  + tail(log.getString(0)));
        }
        long found =
            Libbpf.call(Libbpf.FIND_PROGRAM, object, Libbpf.name(arena, program).address());
        if (found == 0) {
          throw new IllegalArgumentException("the object has no program " + program);
        }
        /*
         * Closing the object closes its descriptors. A second descriptor, opened by the program's
         * id, outlives the object.
         */
        int fd = Libbpf.check("bpf_program__fd", Libbpf.callInt(Libbpf.PROGRAM_FD, found));
        return BpfProgram.byId(BpfProgram.idOf(fd));
      } finally {
        Libbpf.call(Libbpf.CLOSE_OBJECT, object);
      }
    }
  }

  private static String tail(String log) {
    List<String> lines = log.strip().lines().toList();
    return lines.isEmpty()
        ? ""
        : "; its verifier reports:\n"
            + String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }
}
