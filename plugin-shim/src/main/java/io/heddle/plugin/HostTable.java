package io.heddle.plugin;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Reader of {@code struct heddle_host} of native/src/java_calls.h, the shim's facts for Java. It
 * checks that both sides have the same layouts: with a library of another version, the jar must
 * refuse to start instead of corrupting memory.
 */
final class HostTable {
  static final long TABLE_VERSION = 6;

  private static final long SIZE = 0;
  private static final long VERSION = 8;
  private static final long ABI_VERSION = 16;
  private static final long LOG = 24;
  private static final long LIBRARY_PATH = 32;
  private static final long COMMIT = 40;
  private static final long FACTS = 48;
  private static final long DESCRIPTORS = 136;
  private static final long SIZEOF_HOST = 144;

  /* Names of the fields from FACTS on, in the structure's order. */
  private static final String[] FACT_NAMES = {
    "sizeof heddle_request",
    "sizeof heddle_comm",
    "sizeof heddle_properties",
    "sizeof heddle_calls",
    "offsetof heddle_request.sizes",
    "offsetof heddle_request.comm",
    "offsetof heddle_request.java_id",
    "sizeof heddle_plane_bytes",
    "offsetof heddle_comm.events",
    "offsetof heddle_comm.polls",
    "offsetof heddle_comm.polls_seen",
  };

  private static final long[] EXPECTED_FACTS = {
    64, 64, PropertiesLayout.SIZE, CallsLayout.SIZE, 8, 40, 48, 48, 32, 48, 56,
  };

  private final long address;
  private @Nullable MethodHandle log;

  HostTable(long address) {
    this.address = address;
    check();
  }

  private void check() {
    if (readLong(SIZE) != SIZEOF_HOST || readLong(VERSION) != TABLE_VERSION) {
      throw new HeddleException(
          "the library's table is version %s of %s bytes, the jar's is version %s of %s bytes: use one build for both"
              .formatted(readLong(VERSION), readLong(SIZE), TABLE_VERSION, SIZEOF_HOST));
    }
    for (int i = 0; i < EXPECTED_FACTS.length; i++) {
      long actual = readLong(FACTS + 8L * i);
      if (actual != EXPECTED_FACTS[i]) {
        throw new HeddleException(
            "%s is %s in the library and %s in the jar: use one build for both"
                .formatted(FACT_NAMES[i], actual, EXPECTED_FACTS[i]));
      }
    }
  }

  private long readLong(long offset) {
    return Memory.ALL.get(Memory.NATIVE_LONG, address + offset);
  }

  private String readString(long offset) {
    return Memory.ALL.getString(readLong(offset));
  }

  /** Returns the version, 6 to 12, of the table through which NCCL loaded the plugin first. */
  long abiVersion() {
    return readLong(ABI_VERSION);
  }

  String libraryPath() {
    return readString(LIBRARY_PATH);
  }

  /**
   * Returns the address of the shim's table of this process's descriptors, or 0 if there is none.
   */
  long descriptors() {
    return readLong(DESCRIPTORS);
  }

  String commit() {
    return readString(COMMIT);
  }

  /** Links {@link #log}, which takes some milliseconds, unless it is linked already. */
  synchronized MethodHandle linkLog() {
    MethodHandle linked = log;
    if (linked == null) {
      linked =
          Linker.nativeLinker()
              .downcallHandle(
                  MemorySegment.ofAddress(readLong(LOG)),
                  FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
      log = linked;
    }
    return linked;
  }

  /** Passes a NUL-terminated text to NCCL's logger. */
  void log(long level, long sentence) {
    try {
      linkLog().invokeExact(level, sentence);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }
}
