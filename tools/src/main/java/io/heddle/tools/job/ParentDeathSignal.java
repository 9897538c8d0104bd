package io.heddle.tools.job;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Starter of processes that the kernel kills when this process ends for any reason. It uses {@code
 * setpriv} (util-linux 2.33 and later) to set the parent-death signal. Without {@code setpriv},
 * processes are started without the signal.
 */
final class ParentDeathSignal {
  /** Command prefix that sets the parent-death signal. */
  private static final List<String> COMMAND = List.of("setpriv", "--pdeathsig", "KILL");

  private static final long PROBE_SECONDS = 10;
  private static final List<String> PREFIX = isAvailable() ? COMMAND : List.of();

  private ParentDeathSignal() {}

  private static boolean isAvailable() {
    List<String> probe = new ArrayList<>(COMMAND);
    probe.add("true");
    try {
      Process process =
          new ProcessBuilder(probe)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(PROBE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException noSuchCommand) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Returns the command prefix that sets the parent-death signal of the process that executes it;
   * empty if {@code setpriv} is missing.
   */
  static List<String> prefix() {
    return PREFIX;
  }

  /**
   * Starts a process like {@link ProcessBuilder#start}. The kernel sends the signal when the thread
   * that started the process ends. So each process has its own thread, which waits until the
   * process ends.
   */
  static Process start(ProcessBuilder builder) throws IOException {
    List<String> command = new ArrayList<>(PREFIX);
    command.addAll(builder.command());
    builder.command(command);
    CompletableFuture<Process> started = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("heddle-parent")
        .start(() -> {
          try {
            Process process = builder.start();
            started.complete(process);
            process.waitFor();
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          } catch (Throwable failed) {
            /* The caller waits for the process or this exception. */
            started.completeExceptionally(failed);
          }
        });
    try {
      return started.join();
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof IOException own ? own : new IOException(failed);
    }
  }
}
