package io.heddle.cli.kit;

import io.heddle.platform.NanoClock;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Progress line on standard error: updated in place on a terminal, else printed every few seconds.
 */
public final class ProgressLine {
  private static final long TERMINAL_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LOG_NS = TimeUnit.SECONDS.toNanos(5);
  private static final String CLEAR = "\r\u001b[K";

  private final PrintStream err;
  private final boolean terminal;
  private final NanoClock clock;
  private final long startNs;
  private long lastNs;
  private boolean shown;

  ProgressLine(PrintStream err, boolean terminal, NanoClock clock) {
    this.err = err;
    this.terminal = terminal;
    this.clock = clock;
    startNs = clock.nanoTime();
    lastNs = startNs;
  }

  /*
   * Returns a progress line on standard error. Whether standard error is a terminal is read from
   * /proc, since System.console() considers only standard input and output.
   */
  public static ProgressLine onStandardError() {
    boolean terminal;
    try {
      String target =
          java.nio.file.Files.readSymbolicLink(java.nio.file.Path.of("/proc/self/fd/2")).toString();
      terminal = target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (java.io.IOException unknown) {
      terminal = false;
    }
    return new ProgressLine(System.err, terminal, NanoClock.SYSTEM);
  }

  /** Shows the sentence, unless another one was shown less than an interval ago. */
  public void update(Supplier<String> sentence) {
    long now = clock.nanoTime();
    if (now - lastNs < (terminal ? TERMINAL_NS : LOG_NS)) {
      return;
    }
    lastNs = now;
    String text = sentence.get() + ", " + TimeUnit.NANOSECONDS.toSeconds(now - startNs) + " s";
    if (terminal) {
      err.print(CLEAR + text);
      err.flush();
      shown = true;
    } else {
      err.println(text);
    }
  }

  /** Removes the line from the terminal; call it before other output. */
  public void clear() {
    if (shown) {
      err.print(CLEAR);
      err.flush();
      shown = false;
    }
  }
}
