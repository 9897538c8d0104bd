package io.heddle.tools.job;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Process with a line protocol: it reads one order per line and answers with lines, the last of
 * which is {@code end}. It is idle between orders, so that several can alternate.
 */
public final class AnsweringProcess implements AutoCloseable {
  private static final long ANSWER_SECONDS = 60;
  private static final String END = "end";

  private final String name;
  private final RunFolder folder;
  private final RankProcess process;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  /**
   * Starts the process.
   *
   * @param folder folder for its log, owned; deleted at the end unless it fails
   */
  public AnsweringProcess(
      String name, List<String> command, Map<String, String> environment, RunFolder folder)
      throws IOException {
    this.name = name;
    this.folder = folder;
    process =
        RankProcess.start(0, command, environment, folder.path().resolve("log"), answers::add);
  }

  public long pid() {
    return process.pid();
  }

  /**
   * Sends an order and reads the answer.
   *
   * @throws HeddleException with the last log lines, if the process ends or prints nothing for too
   *     long
   */
  public void request(String order, Consumer<String> eachLine) throws InterruptedException {
    try {
      process.sendLine(order);
    } catch (IOException ended) {
      throw failure(process.isAlive() ? "has closed its standard input" : end());
    }
    for (String line = next(); !line.equals(END); line = next()) {
      eachLine.accept(line);
    }
  }

  /** Returns the next line that it prints, without an order. */
  public String next() throws InterruptedException {
    for (long tenths = 0; tenths < ANSWER_SECONDS * 10; tenths++) {
      String line = answers.poll(100, TimeUnit.MILLISECONDS);
      if (line != null) {
        return line;
      }
      if (!process.isAlive() && answers.isEmpty()) {
        throw failure(end());
      }
    }
    throw failure("printed nothing for " + ANSWER_SECONDS + " s");
  }

  private String end() throws InterruptedException {
    return "ended: " + RankProcess.describeExit(process.exitCode());
  }

  public HeddleException failure(String what) {
    folder.keep();
    List<String> lines = process.lastLines();
    return new HeddleException(
        lines.isEmpty()
            ? "%s %s (it logged nothing)".formatted(name, what)
            : "%s %s; its last log lines (all in %s):%n    %s"
                .formatted(name, what, folder.path(), String.join("\n    ", lines)));
  }

  @Override
  public void close() throws IOException {
    process.close();
    folder.close();
  }
}
