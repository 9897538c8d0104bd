package io.heddle.daemon;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Reloads by SIGHUP. Create it before a daemon starts: without it the signal would end the process.
 * A signal that arrives while the daemon starts is answered by a reload once it has started.
 */
public final class HangUps {
  /* Held by a reload, so that none overtakes another that has already read the file. */
  private final Object reloading = new Object();

  private @Nullable Runnable reload;
  private boolean early;

  /**
   * Begins to handle SIGHUP. If the signal was ignored when the process began, as under {@code
   * nohup}, Java keeps it ignored, and a log line warns.
   */
  public HangUps(Log log) {
    SignalHandler before = Signal.handle(new Signal("HUP"), signal -> arrived());
    if (before == SignalHandler.SIG_IGN) {
      log.warn(
          "SIGHUP was ignored when this process began, as under nohup, and stays ignored: to read"
              + " the configuration again, restart the daemon");
    }
  }

  /** Keeps a daemon that can't reload running at SIGHUP; a log line names the remedy. */
  public static void ignore(Log log) {
    new HangUps(log)
        .onEach(() ->
            log.warn(
                "SIGHUP changes nothing: to read the configuration again, restart the daemon"));
  }

  /**
   * Runs a reload, and logs its changes or why the file is rejected.
   *
   * @param reload function that reads and applies the file, and returns the changes
   */
  public static void reload(Path file, Log log, Supplier<String> reload) {
    try {
      log.info("%s is read again: %s", file, reload.get());
    } catch (HeddleException refused) {
      log.warn(
          "%s is read again and rejected, the previous configuration stays in force: %s",
          file, String.valueOf(refused.getMessage()));
    }
  }

  private void arrived() {
    Runnable now;
    synchronized (this) {
      now = reload;
      early |= now == null;
    }
    if (now != null) {
      run(now);
    }
  }

  private void run(Runnable now) {
    synchronized (reloading) {
      now.run();
    }
  }

  /**
   * Sets the reload for each signal from now on, and runs it once if a signal has arrived.
   *
   * @param each reload, which the JVM runs on a thread of its own for each later signal
   */
  public void onEach(Runnable each) {
    boolean missed;
    synchronized (this) {
      reload = each;
      missed = early;
    }
    if (missed) {
      run(each);
    }
  }
}
