package io.heddle.plugin;

import io.heddle.platform.Memory;

/**
 * Shutdown hook for a JVM that ends before its process, as in a Java application. The shim's exit
 * handler would be too late, since no thread may enter Java by then.
 */
final class JvmShutdownHook extends Thread {
  /* Equal to the values in native/src/exit_flush.c. */
  private static final long BUDGET_NS = 950_000_000;
  private static final long QUIET_NS = 20_000_000;

  private final long calls;

  /**
   * @param calls address of the shim's {@code struct heddle_calls}
   */
  JvmShutdownHook(long calls) {
    super("heddle-end");
    this.calls = calls;
  }

  @Override
  public void run() {
    JavaCalls.flushBeforeExit(BUDGET_NS, QUIET_NS);
    Memory.setLongRelease(calls + CallsLayout.JVM_ENDED, 1);
  }
}
