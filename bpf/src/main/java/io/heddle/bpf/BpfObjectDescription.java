package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Reader of the kernel's description of a program or map (bpf(2), BPF_OBJ_GET_INFO_BY_FD). */
final class BpfObjectDescription {
  private BpfObjectDescription() {}

  /**
   * Fills a struct with the description. An older kernel fills only its first fields.
   *
   * @throws SystemCallException if the kernel refuses
   */
  static void read(String what, int fd, MemorySegment info) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment length = arena.allocateFrom(JAVA_INT, (int) info.byteSize());
      SystemCallException.check(
          "BPF_OBJ_GET_INFO_BY_FD of a " + what,
          Libbpf.INFO.callInt(fd, info.address(), length.address()));
    }
  }
}
