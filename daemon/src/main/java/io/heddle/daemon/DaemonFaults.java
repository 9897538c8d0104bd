package io.heddle.daemon;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.Log;

/**
 * Termination of a daemon after an error from which it can't recover. It logs one line and exits
 * with {@link #EXIT_CODE}, so that systemd restarts it. Without this, a daemon with a dead thread
 * would keep its socket and heartbeat, and report a false state.
 */
public final class DaemonFaults {
  /** EX_SOFTWARE of sysexits.h: an internal software error. */
  public static final int EXIT_CODE = 70;

  private DaemonFaults() {}

  /** Makes any uncaught error of any thread end this process. */
  public static void exitOnUncaughtError(String daemon, Log log) {
    FaultReporter faults = new FaultReporter(daemon, log);
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
      FaultReporter.releaseReserve();
      faults.report("the thread \"" + thread.getName() + "\" ends by", thrown);
      end(log);
    });
  }

  /**
   * Ends the process at once and without cleanup, since cleanup might fail or hang after the error.
   */
  public static void end(Log log) {
    try {
      log.write(
          Log.Level.WARN,
          "ends with exit code " + EXIT_CODE + ", since it can't recover from that; restart it");
    } finally {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
