package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Handles of the libbpf 1 functions that this package calls, all on the control path. Functions
 * that return a number return 0 or more, or a negated errno (libbpf's README, "libbpf 1.0 error
 * reporting").
 */
final class Libbpf {
  private static final String LIBRARY = "libbpf.so.1";
  private static final Linker LINKER = Linker.nativeLinker();
  private static final @Nullable SymbolLookup SYMBOLS = open();

  static final MethodHandle OPEN_MEM = find("bpf_object__open_mem", 3);
  static final MethodHandle LOAD = find("bpf_object__load", 1);
  static final MethodHandle CLOSE_OBJECT = find("bpf_object__close", 1);
  static final MethodHandle FIND_PROGRAM = find("bpf_object__find_program_by_name", 2);
  static final MethodHandle PROGRAM_FD = find("bpf_program__fd", 1);
  static final MethodHandle GET_ERROR = find("libbpf_get_error", 1);
  static final MethodHandle SET_PRINT = find("libbpf_set_print", 1);
  static final MethodHandle HOOK_CREATE = find("bpf_tc_hook_create", 1);
  static final MethodHandle ATTACH = find("bpf_tc_attach", 2);
  static final MethodHandle DETACH = find("bpf_tc_detach", 2);
  static final MethodHandle QUERY = find("bpf_tc_query", 2);
  static final MethodHandle MAP_LOOKUP = find("bpf_map_lookup_elem", 3);
  static final MethodHandle MAP_UPDATE = find("bpf_map_update_elem", 4);
  static final MethodHandle MAP_DELETE = find("bpf_map_delete_elem", 2);
  static final MethodHandle MAP_LOOKUP_BATCH = find("bpf_map_lookup_batch", 7);
  static final MethodHandle MAP_UPDATE_BATCH = find("bpf_map_update_batch", 5);
  static final MethodHandle PROGRAM_BY_ID = find("bpf_prog_get_fd_by_id", 1);
  static final MethodHandle MAP_BY_ID = find("bpf_map_get_fd_by_id", 1);
  static final MethodHandle INFO = find("bpf_obj_get_info_by_fd", 3);
  static final MethodHandle TEST_RUN = find("bpf_prog_test_run_opts", 2);

  private Libbpf() {}

  private static @Nullable SymbolLookup open() {
    try {
      return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    } catch (IllegalArgumentException missing) {
      return null;
    }
  }

  /**
   * Returns the message that libbpf is missing on this host, with the remedy; empty if it is
   * installed.
   */
  static Optional<String> reasonMissing() {
    return SYMBOLS == null
        ? Optional.of(LIBRARY + " isn't installed (on Debian: apt-get install libbpf1)")
        : Optional.empty();
  }

  /* Every argument is passed as a 64-bit number: LinuxCalls explains why that is correct. */
  private static MethodHandle find(String name, int arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments];
    java.util.Arrays.fill(layouts, JAVA_LONG);
    FunctionDescriptor form = FunctionDescriptor.of(JAVA_LONG, layouts);
    if (SYMBOLS == null) {
      return LINKER.downcallHandle(form);
    }
    return LINKER.downcallHandle(
        SYMBOLS.find(name).orElseThrow(() -> new HeddleException(LIBRARY + " has no " + name)),
        form);
  }

  /** Calls a function, and returns its 64-bit result. */
  static long call(MethodHandle function, Object... arguments) {
    reasonMissing()
        .ifPresent(reason -> {
          throw new HeddleException(reason);
        });
    try {
      return (long) function.invokeWithArguments(arguments);
    } catch (Throwable thrown) {
      throw thrown instanceof RuntimeException runtime
          ? runtime
          : new IllegalStateException(thrown);
    }
  }

  /** Calls a function that returns a C {@code int}, and returns its result. */
  static int callInt(MethodHandle function, Object... arguments) {
    return (int) call(function, arguments);
  }

  /**
   * Returns the result of a call unless it is an error.
   *
   * @throws SystemCallException with the errno if the result is an error
   */
  static int check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
    return result;
  }

  /** Keeps libbpf from writing to standard error, since exceptions report the errors. */
  static void disableOutput() {
    call(SET_PRINT, 0L);
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
