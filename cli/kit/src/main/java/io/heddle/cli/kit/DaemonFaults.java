package io.heddle.cli.kit;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.Log;

/**
 * The end of a daemon that has met an error which it can't undo: one line and {@link #EXIT_CODE},
 * so that systemd starts it anew. Half a daemon would be worse than none: its socket and its signs
 * of life go on, and what they say isn't so any more.
 */
public final class DaemonFaults {
  /** Of sysexits.h: an internal software error. */
  public static final int EXIT_CODE = 70;

  private DaemonFaults() {}

  /** From now on an error that ends any thread of this process ends the process. */
  public static void endProcessFor(String daemon, Log log) {
    FaultReporter faults = new FaultReporter(daemon, log);
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
      FaultReporter.releaseReserve();
      faults.report("the thread \"" + thread.getName() + "\" ends by", thrown);
      end(log);
    });
  }

  /** Ends the process at once: what would have to be closed first may be what is broken. */
  public static void end(Log log) {
    try {
      log.write(
          Log.Level.WARN,
          "ends with exit code " + EXIT_CODE + ", since it can't undo that; start it again");
    } finally {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
