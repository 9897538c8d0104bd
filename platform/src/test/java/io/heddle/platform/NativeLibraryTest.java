package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Test of functions that are bound by name. */
final class NativeLibraryTest {
  private final NativeLibrary libc = new NativeLibrary("libc.so.6");

  @Test
  void functionReturnsItsResultAndErrno() {
    assertEquals(ProcessHandle.current().pid(), libc.function("getpid", 0).callInt());
    assertEquals(-1, libc.function("dup2", 2).callInt(-1, -1));
    assertEquals(Errno.EBADF, NativeFunction.errno());
  }

  @Test
  void missingLibraryIsNamedAtTheCall() {
    NativeLibrary absent = new NativeLibrary("libabsent.so.1");
    assertFalse(absent.isPresent());
    NativeFunction function = absent.function("any", 1);
    assertFalse(function.isPresent());
    HeddleException refusal = assertThrows(HeddleException.class, () -> function.call(0));
    assertEquals("libabsent.so.1 can't be opened on this host; install it", refusal.getMessage());
  }

  @Test
  void missingFunctionIsNamedAtTheCall() {
    assertTrue(libc.isPresent());
    NativeFunction function = libc.function("no_such_function", 2);
    assertFalse(function.isPresent());
    HeddleException refusal = assertThrows(HeddleException.class, () -> function.call(0, 0));
    assertEquals(
        "libc.so.6 of this host has no function no_such_function; update it", refusal.getMessage());
  }
}
