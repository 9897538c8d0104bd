package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Installation;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Emulated guest whose kernel has RDMA devices (rxe). It runs scripts that it receives through a
 * shared folder. The scripts can use the functions of {@code system-tests/guest/topology.sh}.
 */
final class EmulatedGuest implements AutoCloseable {
  private static final Path SCRIPTS = Path.of("system-tests", "guest");
  private static final int NO_GUEST_HERE = 77;
  /* jobs.sh prints it. */
  private static final String READY = "the guest takes jobs";
  private static final long START_SECONDS = 180;
  private static final long POLL_MS = 20;
  private static final long END_SECONDS = 20;

  private final Process process;
  private final Path folder;
  private final Path log;
  private int jobs;

  private EmulatedGuest(Process process, Path folder, Path log) {
    this.process = process;
    this.folder = folder;
    this.log = log;
  }

  private static Path script(String name) {
    return Installation.part(SCRIPTS.resolve(name));
  }

  private static Path cache() {
    String given = System.getenv("HEDDLE_GUEST_CACHE");
    return given == null ? Installation.root().resolve(".build/guest") : Path.of(given);
  }

  /**
   * Returns the reason why this machine can't run a guest; empty if it can. Builds the guest's
   * image if it is missing.
   */
  static Optional<String> refusal() throws IOException, InterruptedException {
    if (!Files.isExecutable(script("make.sh"))) {
      return Optional.of("the emulated guest needs a checkout of the sources");
    }
    Process make =
        new ProcessBuilder(script("make.sh").toString(), cache().toString())
            .redirectErrorStream(true)
            .start();
    try {
      make.getOutputStream().close();
      String said = new String(make.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int status = make.waitFor();
      if (status != 0 && status != NO_GUEST_HERE) {
        throw new HeddleException("can't build the guest: " + said.strip());
      }
      return status == 0 ? Optional.empty() : Optional.of(said.strip());
    } finally {
      make.destroy();
    }
  }

  /**
   * Starts a guest and waits until it accepts scripts.
   *
   * @param inside returns a command line that runs the given one in the network namespace of the
   *     tap devices
   * @param taps tap devices of the guest's interfaces eth0, eth1, …
   * @param setUp script that the guest runs before all others
   * @param folder empty folder for the guest's files
   * @param limitSeconds seconds after which the guest is ended
   */
  static EmulatedGuest start(
      UnaryOperator<List<String>> inside,
      List<String> taps,
      String setUp,
      Path folder,
      long limitSeconds)
      throws IOException, InterruptedException {
    Path shared = Files.createDirectory(folder.resolve("jobs"));
    List<String> command = new ArrayList<>(List.of(script("run.sh").toString(), "--bare"));
    for (String tap : taps) {
      command.addAll(List.of("--tap", tap));
    }
    command.addAll(List.of("-o", shared.toString(), "-t", Long.toString(limitSeconds), "--"));
    String serve = "\nexec '" + script("jobs.sh") + "' /run/out\n";
    command.addAll(List.of("bash", "-euc", setUp + serve));
    Path log = folder.resolve("guest.log");
    ProcessBuilder builder =
        new ProcessBuilder(inside.apply(command))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().put("HEDDLE_GUEST_CACHE", cache().toString());
    Process process = builder.start();
    EmulatedGuest guest = new EmulatedGuest(process, shared, log);
    try {
      process.getOutputStream().close();
      guest.await(() -> Files.readString(log, StandardCharsets.ISO_8859_1).contains(READY));
      return guest;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      guest.close();
      throw failed;
    }
  }

  /** Condition to wait for. */
  private interface Condition {
    boolean holds() throws IOException;
  }

  private void await(Condition condition) throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (!condition.holds()) {
      if (!process.isAlive()) {
        throw new HeddleException("the guest ended: " + lastLogLines(log));
      }
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(START_SECONDS)) {
        throw new HeddleException(
            "the guest made no progress for " + START_SECONDS + " s: " + lastLogLines(log));
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
  }

  private static String lastLogLines(Path file) throws IOException {
    String said =
        Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1).strip() : "";
    return said.isEmpty() ? "no output" : said.lines().toList().getLast();
  }

  /**
   * Runs a script with {@code bash -eu} to its end.
   *
   * @return output of the script
   * @throws HeddleException if the script fails, with its last line of output
   */
  String run(String script) throws IOException, InterruptedException {
    String name = "job" + ++jobs;
    put(name + ".job", script);
    Path status = folder.resolve(name + ".status");
    await(() -> Files.exists(status));
    Path output = folder.resolve(name + ".out");
    if (!Files.readString(status).strip().equals("0")) {
      throw new HeddleException("a script in the guest failed: " + lastLogLines(output));
    }
    return Files.readString(output, StandardCharsets.ISO_8859_1);
  }

  /* Writes a file atomically: readers see all of it or nothing. */
  private void put(String name, String content) throws IOException {
    Path fresh = folder.resolve(name + ".new");
    Files.writeString(fresh, content);
    Files.move(fresh, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  /* Ends the guest. On SIGTERM the script that runs QEMU ends it and removes its own files. */
  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
