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
 * Runner of the nft command in the network namespace of the thread that constructs it. Any thread
 * may call it: a thread of its own, which inherited the namespace, starts the processes.
 */
final class NftCommand implements AutoCloseable {
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("heddle-nft").daemon().factory());

  /*
   * Runs an empty task, which creates the executor's thread now, so that it inherits this thread's
   * namespace.
   */
  NftCommand() {
    thread.execute(() -> {});
  }

  /**
   * Returns the message that nft is missing on this host, with the remedy; empty if it is
   * installed.
   */
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
   * @throws HeddleException with the first line of nft's output, if nft refuses the script
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
    /*
     * Writes the whole input before reading, which can't block since nft reads all of its input
     * before it writes.
     */
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
