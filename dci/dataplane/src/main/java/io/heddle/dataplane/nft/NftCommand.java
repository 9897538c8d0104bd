package io.heddle.dataplane.nft;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs nft in the network namespace of the thread that made this, whoever asks: on a thread of its
 * own, which inherits it, and so do the processes. Any thread.
 */
final class NftCommand implements AutoCloseable {
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("heddle-nft").daemon().factory());

  /* A thread is made by the first task, so by this thread and in its namespace. */
  NftCommand() {
    thread.execute(() -> {});
  }

  /** Why this host has no nft, with the remedy. */
  static Optional<String> refusal() {
    try {
      Process process = new ProcessBuilder("nft", "--version").redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      return Optional.empty();
    } catch (IOException absent) {
      return Optional.of(
          "there is no nft on PATH (on Debian: apt-get install nftables; on RHEL: dnf install"
              + " nftables)");
    }
  }

  /**
   * What it prints.
   *
   * @param script commands, one a line or in braces; all of them are done or none
   * @throws HeddleException with its first line where it refuses them
   */
  String run(String script) {
    try {
      return thread.submit(() -> exec(script)).get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while nft ran", interrupted);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof HeddleException refused) {
        throw refused;
      }
      throw new HeddleException("nft can't be run: " + failed.getCause(), failed);
    }
  }

  private static String exec(String script) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(List.of("nft", "--numeric", "-f", "-"))
            .redirectErrorStream(true)
            .start();
    /* It reads all of its input before it says anything. */
    try (OutputStream input = process.getOutputStream()) {
      input.write(script.getBytes(StandardCharsets.UTF_8));
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new HeddleException("nft refuses: " + said.lines().findFirst().orElse("nothing said"));
    }
    return said;
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
