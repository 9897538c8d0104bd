package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Function of a {@link NativeLibrary} for the control path, bound at its first call. Its arguments
 * and its result are {@code long}, so there is one call shape per number of arguments: each
 * distinct shape costs start-up time. {@link Downcalls} explains why that is correct.
 */
public final class NativeFunction {
  private final NativeLibrary library;
  private final String symbol;
  private final int arguments;
  private @Nullable MemorySegment address;
  private @Nullable MethodHandle handle;

  NativeFunction(NativeLibrary library, String symbol, int arguments) {
    this.library = library;
    this.symbol = symbol;
    this.arguments = arguments;
  }

  public String symbol() {
    return symbol;
  }

  public int arguments() {
    return arguments;
  }

  private synchronized @Nullable MemorySegment find() {
    if (address == null) {
      address = library.find(symbol).orElse(null);
    }
    return address;
  }

  /** Returns whether this host's library has the function; older ones lack newer functions. */
  public boolean isPresent() {
    return find() != null;
  }

  /**
   * Returns the function itself, for callers that may not allocate.
   *
   * @throws HeddleException if this host has no such library or function
   */
  public MemorySegment address() {
    MemorySegment found = find();
    if (found == null) {
      throw new HeddleException(
          library.isPresent()
              ? library.name() + " of this host has no function " + symbol + "; update it"
              : library.name() + " can't be opened on this host; install it");
    }
    return found;
  }

  private synchronized MethodHandle handle() {
    MethodHandle linked = handle;
    if (linked == null) {
      MemoryLayout[] layouts = new MemoryLayout[arguments];
      Arrays.fill(layouts, JAVA_LONG);
      linked =
          Downcalls.LINKER
              .downcallHandle(address(), FunctionDescriptor.of(JAVA_LONG, layouts), Downcalls.ERRNO)
              .asSpreader(long[].class, arguments);
      handle = linked;
    }
    return linked;
  }

  /**
   * Calls the function.
   *
   * @throws HeddleException if this host has no such library or function
   */
  public long call(long... values) {
    try {
      return (long) handle().invokeExact(Downcalls.capture(), values);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Calls a function that returns a C {@code int}, which leaves the upper half of the register
   * undefined.
   */
  public int callInt(long... values) {
    return (int) call(values);
  }

  /**
   * Returns the errno of the calling thread's last call. If the function failed without setting
   * errno, returns EIO.
   */
  public static int errno() {
    int errno = Downcalls.errno(Downcalls.capture());
    return errno == 0 ? Errno.EIO : errno;
  }
}
