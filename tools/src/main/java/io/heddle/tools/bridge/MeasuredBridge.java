package io.heddle.tools.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Bridge in a separate process, as on a real host. The process runs for all rounds, so that its
 * code is compiled. It is stopped (SIGSTOP) while other connections are measured.
 */
final class MeasuredBridge implements MeasuredLink {
  private static final long PATIENCE_NS = 60_000_000_000L;
  private static final long POLL_NS = 10_000_000;

  private final String name;
  private final Gid group;
  private final Process process;

  private MeasuredBridge(String name, Gid group, Process process) {
    this.name = name;
    this.group = group;
    this.process = process;
  }

  /**
   * Starts a bridge and waits until it runs.
   *
   * @param program command line that runs {@code heddle}
   * @param gateway number of the gateway at which the bridge runs
   * @param more further keys for the {@code bridge} line of its configuration
   */
  static MeasuredBridge start(
      String name,
      Gid group,
      TwoFabrics fabrics,
      int gateway,
      List<String> program,
      Path folder,
      String more)
      throws IOException {
    int last = 254 - gateway;
    Path status = folder.resolve("status" + gateway);
    Path config = folder.resolve("bridge" + gateway + ".conf");
    Path log = folder.resolve("bridge" + gateway + ".log");
    Files.write(
        config,
        List.of(
            "name = latency"
                + gateway
                + "\nstatus = "
                + status
                + "\ncontrol = "
                + folder.resolve("control" + gateway)
                + more,
            "[fabric a]\ninterface = " + TwoFabrics.interfaceName(0) + "\naddress = 10.1.0." + last,
            "[fabric b]\ninterface = " + TwoFabrics.interfaceName(1) + "\naddress = 10.2.0." + last,
            "[group " + group + "]"));
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("bridge", "run", "--config", config.toString()));
    Process process =
        new ProcessBuilder(fabrics.command(fabrics.gateway(gateway), command))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    MeasuredBridge bridge = new MeasuredBridge(name, group, process);
    try {
      bridge.awaitStart(status, log);
      bridge.stop();
      return bridge;
    } catch (IOException | RuntimeException failed) {
      bridge.close();
      throw failed;
    }
  }

  private void awaitStart(Path status, Path log) throws IOException {
    long start = System.nanoTime();
    while (!isRunning(status)) {
      if (!process.isAlive() || System.nanoTime() - start > PATIENCE_NS) {
        throw new HeddleException(
            name + " doesn't run; its output: " + Files.readString(log).strip());
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private static boolean isRunning(Path status) {
    try {
      return BridgeStatus.read(status).groups().size() == 1;
    } catch (HeddleException notYet) {
      return false;
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Gid group() {
    return group;
  }

  @Override
  public void start() {
    signal("CONT");
  }

  @Override
  public void stop() {
    signal("STOP");
  }

  private void signal(String word) {
    List<String> command = new ArrayList<>(List.of("kill", "-" + word));
    Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .forEach(each -> command.add(Long.toString(each.pid())));
    try {
      Process kill = new ProcessBuilder(command).inheritIO().start();
      if (kill.onExit().join().exitValue() != 0) {
        throw new HeddleException(name + " can't be sent SIG" + word);
      }
    } catch (IOException failed) {
      throw new HeddleException(name + " can't be sent SIG" + word, failed);
    }
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
  }
}
