package io.heddle.systemtests.guest;

import io.heddle.platform.testing.Deadline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Guest that runs the scripts of many tests in parallel, since the start of a guest is expensive.
 * The scripts are passed through a shared folder ({@code jobs.sh}).
 */
final class GuestJobs implements AutoCloseable {
  /* Line that jobs.sh prints once the guest accepts scripts. */
  private static final String READY = "the guest takes jobs";

  private final RxeGuest guest;
  private final Path folder;
  private int count;

  private GuestJobs(RxeGuest guest, Path folder) {
    this.guest = guest;
    this.folder = folder;
  }

  /**
   * Starts a guest.
   *
   * @param setUp script that runs before the first job
   */
  static GuestJobs start(GuestPlan plan, Path folder, String setUp)
      throws IOException, InterruptedException {
    Path shared = Files.createDirectory(folder.resolve("jobs"));
    RxeGuest guest =
        RxeGuest.start(
            plan.sharing(shared),
            folder,
            setUp
                + "\nexec '%s' /run/out\n"
                    .formatted(RxeGuest.ROOT.resolve("system-tests/guest/jobs.sh")));
    try {
      guest.awaitOutput(READY);
      return new GuestJobs(guest, shared);
    } catch (IOException | InterruptedException | RuntimeException | AssertionError failed) {
      guest.close();
      throw failed;
    }
  }

  /** Starts a script in the guest, with {@code bash -eu}. */
  Job submit(String script) throws IOException {
    Job job = new Job("job" + ++count);
    put(job.name + ".job", script);
    return job;
  }

  private void put(String name, String content) throws IOException {
    Path whole = folder.resolve(name + ".new");
    Files.writeString(whole, content);
    Files.move(whole, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void close() throws IOException, InterruptedException {
    try (guest) {
      put("end", "");
      guest.awaitEnd();
    }
  }

  /** Script that runs in the guest. */
  final class Job implements AutoCloseable {
    private final String name;

    private Job(String name) {
      this.name = name;
    }

    String output() throws IOException {
      Path out = folder.resolve(name + ".out");
      return Files.exists(out) ? Files.readString(out, StandardCharsets.ISO_8859_1) : "";
    }

    /** Returns the output for an assertion's message, or the reason why it can't be read. */
    String outputOrWhyNot() {
      try {
        return output();
      } catch (IOException unreadable) {
        return unreadable.toString();
      }
    }

    private boolean hasEnded() {
      return Files.exists(folder.resolve(name + ".status"));
    }

    /** Waits until the script has printed this text. */
    void awaitOutput(String text, int limitSeconds) throws IOException, InterruptedException {
      if (!Deadline.ofSeconds(limitSeconds)
          .awaitOutput(text, this::output, () -> hasEnded() || !guest.isRunning())) {
        throw new AssertionError("\"" + text + "\" didn't come; the job said:\n" + output());
      }
    }

    /**
     * Returns the script's exit status; empty while it runs.
     *
     * @throws AssertionError if the guest ended before the script
     */
    OptionalInt exitCode() throws IOException {
      boolean running = guest.isRunning();
      if (hasEnded()) {
        return OptionalInt.of(
            Integer.parseInt(Files.readString(folder.resolve(name + ".status")).strip()));
      }
      if (!running) {
        throw new AssertionError(
            "the guest ended before " + name + "; it said:\n" + guest.output() + output());
      }
      return OptionalInt.empty();
    }

    /** Waits for the script to end, and returns its exit status. */
    int exitCode(int limitSeconds) throws IOException, InterruptedException {
      Deadline deadline = Deadline.ofSeconds(limitSeconds);
      OptionalInt status = exitCode();
      while (status.isEmpty()) {
        if (deadline.isOver()) {
          throw new AssertionError(
              "the job still runs after " + limitSeconds + " s; it said:\n" + output());
        }
        TimeUnit.MILLISECONDS.sleep(20);
        status = exitCode();
      }
      return status.getAsInt();
    }

    /** Ends the script, unless it has ended. */
    @Override
    public void close() throws IOException {
      if (!hasEnded()) {
        put(name + ".kill", "");
      }
    }
  }
}
