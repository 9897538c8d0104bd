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
 * Process with a line protocol. It reads one request per line and answers with lines, the last of
 * which is {@code end}. It is idle between requests, so that a measurement can use several
 * processes alternately.
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
   * @param folder folder of the process's log. This object owns the folder and deletes it on close,
   *     unless the process failed.
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
   * Sends a request and reads the answer.
   *
   * @throws HeddleException if the process ends or prints nothing for too long, with its last log
   *     lines
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

  /** Returns the next line that the process prints, without sending a request. */
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
