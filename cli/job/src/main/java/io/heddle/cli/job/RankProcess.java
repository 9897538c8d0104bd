package io.heddle.cli.job;

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
 * One rank. Two threads of its own read what it prints: lines of standard output go to a consumer,
 * standard error to a file whose last lines are kept for the message when the rank fails.
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
    Process process = TiedProcess.start(builder);
    return new RankProcess(rank, process, log, lines);
  }

  private static void eachLine(InputStream stream, Consumer<String> consumer) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      FaultReporter faults = new FaultReporter("reading a rank's output", Log.toStandardError());
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        /* Who reads no more would stop the rank as soon as its pipe is full. */
        try {
          consumer.accept(line);
        } catch (RuntimeException | Error failed) {
          faults.report("continues after", failed);
        }
      }
    } catch (IOException streamClosedByDestroy) {
      /* The process is being killed; its exit code tells the rest. */
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

  /* `ip netns exec` becomes the command, so this is the rank's own number. */
  public long pid() {
    return process.pid();
  }

  /**
   * Writes a line to its standard input.
   *
   * @throws IOException where it has ended
   */
  public void say(String line) throws IOException {
    OutputStream input = process.getOutputStream();
    input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  /** No more lines come to its standard input. */
  public void endInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException ended) {
      /* Its exit code says why. */
    }
  }

  /** Whether it ends by itself in this time. */
  public boolean awaitEnd(long seconds) throws InterruptedException {
    return process.waitFor(seconds, TimeUnit.SECONDS);
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** The exit code of a rank that has ended, after all its output was taken. */
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

  /** How it ended, as a clause: {@code exit code 3} or {@code killed by signal 9}. */
  public static String describeExit(int code) {
    return code > SIGNAL_BASE ? "killed by signal " + (code - SIGNAL_BASE) : "exit code " + code;
  }

  /**
   * How a rank ended that has, for people: {@code died: killed by signal 9}, or {@code ended with
   * 3: } and its last words.
   */
  public String end() throws InterruptedException {
    int code = exitCode();
    if (code > SIGNAL_BASE) {
      return "died: " + describeExit(code);
    }
    List<String> lines = lastLines();
    return "ended with " + code + (lines.isEmpty() ? " without a word" : ": " + lines.getLast());
  }

  public List<String> lastLines() {
    synchronized (lastLines) {
      return List.copyOf(lastLines);
    }
  }

  /**
   * Kills it where it still runs, and waits until it is gone and its log is written: a namespace in
   * use can't be removed, nor a folder into which somebody writes.
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
