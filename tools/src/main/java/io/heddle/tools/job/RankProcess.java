package io.heddle.tools.job;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.Log;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Process of a rank. Two threads read its output. Lines of standard output go to a consumer.
 * Standard error goes to a log file, and its last lines are kept for the message if the rank fails.
 */
public final class RankProcess implements AutoCloseable {
  private static final int LAST_LINES = 12;
  private static final int SIGNAL_BASE = 128;

  private final int rank;
  private final Process process;
  private final Deque<String> lastLines = new ArrayDeque<>();
  private final List<Thread> readers;

  private RankProcess(int rank, Process process, Path log, Consumer<String> lines) {
    this.rank = rank;
    this.process = process;
    this.readers =
        List.of(
            Thread.ofVirtual().start(() -> eachLine(process.getInputStream(), lines)),
            Thread.ofVirtual().start(() -> copyErrors(log)));
  }

  public static RankProcess start(
      int rank,
      List<String> command,
      Map<String, String> environment,
      Path log,
      Consumer<String> lines)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process process = ParentDeathSignal.start(builder);
    return new RankProcess(rank, process, log, lines);
  }

  private static void eachLine(InputStream stream, Consumer<String> consumer) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      FaultReporter faults = new FaultReporter("reading a rank's output", Log.toStandardError());
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        /* Reading must continue after a consumer's failure: a full pipe would block the rank. */
        try {
          consumer.accept(line);
        } catch (RuntimeException | Error failed) {
          faults.report("continues after", failed);
        }
      }
    } catch (IOException streamClosedByDestroy) {
      /* The process was killed; its exit code tells the reason. */
    }
  }

  private void copyErrors(Path log) {
    try (var writer =
        Files.newBufferedWriter(
            log, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
      eachLine(
          process.getErrorStream(),
          line -> {
            remember(line);
            try {
              writer.write(line);
              writer.newLine();
              writer.flush();
            } catch (IOException failed) {
              throw new UncheckedIOException(failed);
            }
          });
    } catch (IOException | UncheckedIOException failed) {
      remember("(its log " + log + " can't be written: " + failed.getMessage() + ")");
    }
  }

  private void remember(String line) {
    synchronized (lastLines) {
      if (lastLines.size() == LAST_LINES) {
        lastLines.removeFirst();
      }
      lastLines.addLast(line);
    }
  }

  public int rank() {
    return rank;
  }

  /*
   * Returns the process ID of the rank. {@code ip netns exec} replaces itself by the rank, so the
   * ID is the same.
   */
  public long pid() {
    return process.pid();
  }

  /**
   * Writes a line to the rank's standard input.
   *
   * @throws IOException if the rank has ended
   */
  public void sendLine(String line) throws IOException {
    OutputStream input = process.getOutputStream();
    input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  /** Closes the rank's standard input. */
  public void endInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException ended) {
      /* The rank has ended; its exit code tells the reason. */
    }
  }

  /** Waits at most this time for the rank to end by itself. Returns whether it ended. */
  public boolean awaitEnd(long seconds) throws InterruptedException {
    return process.waitFor(seconds, TimeUnit.SECONDS);
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for the rank's end and for its remaining output. Returns the exit code. */
  public int exitCode() throws InterruptedException {
    int code = process.waitFor();
    joinReaders();
    return code;
  }

  private void joinReaders() throws InterruptedException {
    for (Thread reader : readers) {
      reader.join(TimeUnit.SECONDS.toMillis(5));
    }
  }

  /** Describes an exit code as a clause: {@code exit code 3} or {@code killed by signal 9}. */
  public static String describeExit(int code) {
    return code > SIGNAL_BASE ? "killed by signal " + (code - SIGNAL_BASE) : "exit code " + code;
  }

  /**
   * Describes the end of a rank as text: {@code died: killed by signal 9}, or {@code ended with 3:
   * } and the last log line.
   */
  public String end() throws InterruptedException {
    int code = exitCode();
    if (code > SIGNAL_BASE) {
      return "died: " + describeExit(code);
    }
    List<String> lines = lastLines();
    return "ended with "
        + code
        + (lines.isEmpty() ? " without a log line" : ": " + lines.getLast());
  }

  public List<String> lastLines() {
    synchronized (lastLines) {
      return List.copyOf(lastLines);
    }
  }

  /**
   * Kills the process if it still runs, and waits until it has ended and its log is written.
   * Otherwise its namespace and its folder couldn't be removed, as they would be in use.
   */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(5, TimeUnit.SECONDS);
      joinReaders();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
