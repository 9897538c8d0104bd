package io.heddle.systemtests.guest;

import io.heddle.platform.testing.Deadline;
import io.heddle.systemtests.HostProcess;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Two programs of one test. The first line of a failure's message has the exit status and the last
 * output of each program, since summaries of tests show only this line. The whole output follows.
 */
final class TwoEnds {
  /* Time in which a program must notice that the other one has ended, and report that. */
  private static final int GRACE_SECONDS = 20;

  private final String what;
  private final List<End> ends;

  private TwoEnds(String what, End first, End second) {
    this.what = what;
    ends = List.of(first, second);
  }

  private interface ExitCode {
    OptionalInt now() throws IOException;
  }

  private interface Output {
    String now() throws IOException;
  }

  /** Program, with its name in messages. */
  record End(String name, ExitCode exitCode, Output output) {
    static End of(String name, HostProcess process) {
      return new End(name, process::exitCode, process::output);
    }

    static End of(String name, GuestJobs.Job job) {
      return new End(name, job::exitCode, job::output);
    }

    private boolean hasFailed() throws IOException {
      return exitCode.now().orElse(0) != 0;
    }

    private String description() throws IOException {
      OptionalInt code = exitCode.now();
      String last = output.now().lines().filter(line -> !line.isBlank()).reduce("", (a, b) -> b);
      return "%s %s, its last line \"%s\""
          .formatted(
              name,
              code.isPresent() ? "ended with " + code.getAsInt() : "still runs",
              last.strip());
    }
  }

  /**
   * Waits until both programs have succeeded. If one fails, the other one must end within {@link
   * #GRACE_SECONDS}.
   *
   * @param what activity of the programs, for the message
   */
  static void assertPass(String what, End first, End second, int limitSeconds)
      throws IOException, InterruptedException {
    TwoEnds both = new TwoEnds(what, first, second);
    Deadline deadline = Deadline.ofSeconds(limitSeconds);
    boolean failed = false;
    while (both.isRunning() && !deadline.isOver()) {
      if (!failed && (first.hasFailed() || second.hasFailed())) {
        failed = true;
        deadline = deadline.atMostSeconds(GRACE_SECONDS);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    if (both.isRunning() || first.hasFailed() || second.hasFailed()) {
      throw both.failure("");
    }
  }

  /** Fails if the expectation isn't met, with both outputs in the message. */
  static void assertThat(String expected, boolean isSo, String what, End first, End second)
      throws IOException {
    if (!isSo) {
      throw new TwoEnds(what, first, second).failure(expected + "; ");
    }
  }

  private boolean isRunning() throws IOException {
    for (End end : ends) {
      if (end.exitCode.now().isEmpty()) {
        return true;
      }
    }
    return false;
  }

  private AssertionError failure(String expected) throws IOException {
    StringBuilder message = new StringBuilder(what).append(": ").append(expected);
    message.append(ends.getFirst().description()).append("; ").append(ends.getLast().description());
    for (End end : ends) {
      message.append("\n--- ").append(end.name).append(" said:\n").append(end.output.now());
    }
    return new AssertionError(message.toString());
  }
}
