package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.NativeFunction;
import io.heddle.platform.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Handles of the libbpf 1 functions that this package calls, all on the control path. Functions
 * that return a number return 0 or more, or a negated errno (libbpf's README, "libbpf 1.0 error
 * reporting").
 */
final class Libbpf {
  private static final NativeLibrary LIBRARY = new NativeLibrary("libbpf.so.1");

  static final NativeFunction OPEN_MEM = LIBRARY.function("bpf_object__open_mem", 3);
  static final NativeFunction LOAD = LIBRARY.function("bpf_object__load", 1);
  static final NativeFunction CLOSE_OBJECT = LIBRARY.function("bpf_object__close", 1);
  static final NativeFunction FIND_PROGRAM =
      LIBRARY.function("bpf_object__find_program_by_name", 2);
  static final NativeFunction PROGRAM_FD = LIBRARY.function("bpf_program__fd", 1);
  static final NativeFunction GET_ERROR = LIBRARY.function("libbpf_get_error", 1);
  static final NativeFunction SET_PRINT = LIBRARY.function("libbpf_set_print", 1);
  static final NativeFunction HOOK_CREATE = LIBRARY.function("bpf_tc_hook_create", 1);
  static final NativeFunction ATTACH = LIBRARY.function("bpf_tc_attach", 2);
  static final NativeFunction DETACH = LIBRARY.function("bpf_tc_detach", 2);
  static final NativeFunction QUERY = LIBRARY.function("bpf_tc_query", 2);
  static final NativeFunction MAP_LOOKUP = LIBRARY.function("bpf_map_lookup_elem", 3);
  static final NativeFunction MAP_UPDATE = LIBRARY.function("bpf_map_update_elem", 4);
  static final NativeFunction MAP_DELETE = LIBRARY.function("bpf_map_delete_elem", 2);
  static final NativeFunction MAP_LOOKUP_BATCH = LIBRARY.function("bpf_map_lookup_batch", 7);
  static final NativeFunction MAP_UPDATE_BATCH = LIBRARY.function("bpf_map_update_batch", 5);
  static final NativeFunction PROGRAM_BY_ID = LIBRARY.function("bpf_prog_get_fd_by_id", 1);
  static final NativeFunction MAP_BY_ID = LIBRARY.function("bpf_map_get_fd_by_id", 1);
  static final NativeFunction INFO = LIBRARY.function("bpf_obj_get_info_by_fd", 3);
  static final NativeFunction TEST_RUN = LIBRARY.function("bpf_prog_test_run_opts", 2);

  private Libbpf() {}

  /**
   * Returns the message that libbpf is missing on this host, with the remedy; empty if it is
   * installed.
   */
  static Optional<String> reasonMissing() {
    return LIBRARY.isPresent()
        ? Optional.empty()
        : Optional.of(LIBRARY.name() + " isn't installed (on Debian: apt-get install libbpf1)");
  }

  /** Keeps libbpf from writing to standard error, since exceptions report the errors. */
  static void disableOutput() {
    SET_PRINT.call(0);
  }

  static boolean isAbsent(int result) {
    return result == -Errno.ENOENT;
  }

  /**
   * Returns zeroed memory for one of libbpf's options structs, and sets its first field, the
   * struct's size.
   */
  static MemorySegment options(Arena arena, long bytes) {
    MemorySegment options = arena.allocate(bytes, 8);
    options.set(JAVA_LONG, 0, bytes);
    return options;
  }

  static MemorySegment name(Arena arena, String name) {
    return arena.allocateFrom(name);
  }
}
