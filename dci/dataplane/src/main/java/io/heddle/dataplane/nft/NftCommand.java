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
 * Runs nft in the network namespace of the constructing thread, whichever thread calls it. A thread
 * of its own inherits the namespace, and its processes do too. Any thread.
 */
final class NftCommand implements AutoCloseable {
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("heddle-nft").daemon().factory());

  /* The first task creates the executor's thread, so it inherits this thread's namespace. */
  NftCommand() {
    thread.execute(() -> {});
  }

  /** Returns why nft is missing on this host, with the remedy. */
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
   * Runs a script and returns its output.
   *
   * @param script commands, one per line or in braces; nft applies all of them or none
   * @throws HeddleException with the first line of nft's refusal
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
    /* nft reads all of its input before it writes. */
    try (OutputStream input = process.getOutputStream()) {
      input.write(script.getBytes(StandardCharsets.UTF_8));
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new HeddleException(
          "nft refused the script: " + said.lines().findFirst().orElse("no output"));
    }
    return said;
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
