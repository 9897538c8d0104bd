package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * ELF object file with BPF programs and maps, compiled by clang. A build without clang has no such
 * file; then no program can be loaded.
 */
public final class BpfObject {
  private static final int LOG_BYTES = 1 << 18;
  private static final int LOG_LINES = 12;

  /* struct bpf_object_open_opts, with kernel_log_buf at 56, kernel_log_size and kernel_log_level. */
  private static final int OPEN_OPTIONS_BYTES = 80;

  private final byte @Nullable [] content;

  BpfObject(byte @Nullable [] content) {
    this.content = content;
  }

  /** Returns the object file among the resources of a class. */
  public static BpfObject of(Class<?> owner, String file) {
    try (InputStream object = owner.getResourceAsStream(file)) {
      return new BpfObject(object == null ? null : object.readAllBytes());
    } catch (IOException broken) {
      throw new HeddleException("can't read " + file + " of this build: " + broken, broken);
    }
  }

  /**
   * Returns everything that is missing for loading the programs, each with its remedy, as a
   * sentence; empty if they can be loaded.
   */
  public Optional<String> refusal() {
    List<String> missing = new ArrayList<>();
    if (content == null) {
      missing.add(
          "this build has no BPF program, since it was made without clang (on Debian: apt-get"
              + " install clang, and build again)");
    }
    Libbpf.reasonMissing().ifPresent(missing::add);
    if (ProcessCalls.geteuid() != 0) {
      missing.add("loading a BPF program needs root (CAP_BPF, CAP_NET_ADMIN, CAP_SYS_ADMIN)");
    }
    return missing.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", missing));
  }

  private byte[] content() {
    byte[] bytes = content;
    if (bytes == null) {
      throw new HeddleException(refusal().orElseThrow());
    }
    return bytes;
  }

  /** Returns the first 64 bits of the file's SHA-256 digest. */
  public long digest() {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(content())).getLong();
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }

  /**
   * Loads all programs and maps of the object, and returns the program of this name.
   *
   * @throws HeddleException if a requirement is missing, or if the kernel rejects the program; then
   *     the message has the last lines of the verifier's log
   */
  public BpfProgram load(String program) {
    refusal()
        .ifPresent(missing -> {
          throw new HeddleException(missing);
        });
    byte[] elf = content();
    Libbpf.disableOutput();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(elf.length, 16);
      MemorySegment.copy(elf, 0, bytes, JAVA_BYTE, 0, elf.length);
      MemorySegment log = arena.allocate(LOG_BYTES);
      MemorySegment options = Libbpf.options(arena, OPEN_OPTIONS_BYTES);
      options.set(JAVA_LONG, 8, Libbpf.name(arena, program).address());
      options.set(JAVA_LONG, 56, log.address());
      options.set(JAVA_LONG, 64, LOG_BYTES);
      long object = Libbpf.OPEN_MEM.call(bytes.address(), (long) elf.length, options.address());
      int error = Libbpf.GET_ERROR.callInt(object);
      if (object == 0 || error != 0) {
        throw new SystemCallException("bpf_object__open_mem", error == 0 ? Errno.EINVAL : -error);
      }
      try {
        int result = Libbpf.LOAD.callInt(object);
        if (result < 0) {
          throw new HeddleException(
              "the kernel rejects the program "
                  + program
                  + ": "
                  + Errno.describe(-result)
                  + tail(log.getString(0)));
        }
        long found = Libbpf.FIND_PROGRAM.call(object, Libbpf.name(arena, program).address());
        if (found == 0) {
          throw new IllegalArgumentException("the object has no program " + program);
        }
        /*
         * Closing the object closes its descriptors. A second descriptor, opened by the program's
         * id, outlives the object.
         */
        int fd = SystemCallException.check("bpf_program__fd", Libbpf.PROGRAM_FD.callInt(found));
        return BpfProgram.byId(BpfProgram.idOf(fd));
      } finally {
        Libbpf.CLOSE_OBJECT.call(object);
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
