package io.heddle.tools.bridge;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.RedundancyStatus;
import io.heddle.cli.bridge.BridgeSocket;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.verbs.Gid;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Demo of two bridges under load. The bridge that owns a group is drained, and later the bridge
 * that owns it then is killed.
 */
final class FailoverDemo {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int MTU = 1500;
  private static final int BRIDGES = 2;
  private static final long ENOUGH = 500;
  private static final long POLL_NS = 2_000_000;
  private static final long PATIENCE_NS = 60_000_000_000L;
  private static final double NS_PER_MS = 1e6;

  private final List<String> program;
  private final int beaconMs;
  private final List<Process> processes = new ArrayList<>();
  private Path folder = Path.of("");

  /**
   * Results of a run.
   *
   * @param sent number of payloads sent to the group, at most two thousand per second
   * @param duplicates number of payloads that were received twice
   * @param damaged number of payloads whose CRC or bytes were wrong
   * @param lostInHandOver number of payloads lost while the owner was drained
   * @param countedInHandOver number of packets that the bridges dropped as no-owner while the owner
   *     was drained
   * @param handOverMs longest time without a payload while the owner was drained, ms
   * @param lostAtKill number of payloads lost when the owner was killed
   * @param killMs longest time without a payload when the owner was killed, ms
   * @param holdMs hold time after which the other bridge takes over, ms
   * @param passed whether no payload was duplicated or damaged, payloads arrived after each change,
   *     and the bridges counted those lost in the handover
   */
  record Report(
      long sent,
      long duplicates,
      long damaged,
      long lostInHandOver,
      long countedInHandOver,
      double handOverMs,
      long lostAtKill,
      double killMs,
      double holdMs,
      boolean passed) {
    String table() {
      return String.format(
          Locale.ROOT,
          """
          two bridges, one group, %d payloads: duplicates %d, damaged %d
          owner drained  longest time without a payload %.1f ms, lost %d, counted as no-owner %d
          owner killed   longest time without a payload %.1f ms (hold %.0f ms), lost %d
          %s
          """,
          sent,
          duplicates,
          damaged,
          handOverMs,
          lostInHandOver,
          countedInHandOver,
          killMs,
          holdMs,
          lostAtKill,
          passed ? "PASSED" : "FAILED");
    }
  }

  /**
   * @param program command line that runs {@code heddle}
   * @param beaconMs time between two beacons, ms
   */
  FailoverDemo(List<String> program, int beaconMs) {
    this.program = List.copyOf(program);
    this.beaconMs = beaconMs;
  }

  Report run(Lab.Kind kind) throws IOException {
    try (Cleanup cleanup = new Cleanup()) {
      folder = Files.createTempDirectory("heddle-failover");
      cleanup.add(this::delete);
      TwoFabrics fabrics = cleanup.add(TwoFabrics.create(kind, 1, MTU, BRIDGES));
      cleanup.add(this::endAll);
      for (int bridge = 0; bridge < BRIDGES; bridge++) {
        processes.add(start(fabrics, bridge));
      }
      ProgressLine progress = ProgressLine.onStandardError();
      progress.update(() -> "two bridges start");
      await("the bridges agree", () -> bothAgree("standby") && owner() >= 0);
      NumberedLoad load = cleanup.add(new NumberedLoad(fabrics, 1, 2, GROUP));
      progress.update(() -> "load flows");
      awaitFlow(load);
      long first = load.newest();
      load.longestPauseNs();
      long countedBefore = counted();
      int drained = owner();
      progress.update(() -> "the owner is drained");
      order(drained, "drain");
      awaitFlow(load);
      double handOverMs = load.longestPauseNs() / NS_PER_MS;
      long lostInHandOver = load.lost(first);
      long counted = counted() - countedBefore;
      order(drained, "end-drain");
      await("the bridges agree again", () -> bothAgree("standby") && owner() >= 0);
      awaitFlow(load);
      long second = load.newest();
      load.longestPauseNs();
      int killed = owner();
      progress.update(() -> "the owner is killed");
      processes.get(killed).destroyForcibly();
      await("the other one takes over", () -> isOwner(1 - killed));
      awaitFlow(load);
      double killMs = load.longestPauseNs() / NS_PER_MS;
      long lostAtKill = load.lost(second);
      progress.clear();
      boolean holds =
          load.countArrived(BRIDGES, 0) == 0 && load.damaged() == 0 && lostInHandOver <= counted;
      return new Report(
          load.sent(),
          load.countArrived(BRIDGES, 0),
          load.damaged(),
          lostInHandOver,
          counted,
          handOverMs,
          lostAtKill,
          killMs,
          beaconMs * 3.5,
          holds);
    }
  }

  private Process start(TwoFabrics fabrics, int bridge) throws IOException {
    int last = 254 - bridge;
    Path config = folder.resolve("bridge" + bridge + ".conf");
    Files.write(
        config,
        List.of(
            "name = demo"
                + bridge
                + "\nstatus = "
                + status(bridge)
                + "\ncontrol = "
                + control(bridge),
            "[fabric a]\ninterface = " + TwoFabrics.interfaceName(0) + "\naddress = 10.1.0." + last,
            "[fabric b]\ninterface = " + TwoFabrics.interfaceName(1) + "\naddress = 10.2.0." + last,
            "[redundancy]\nbridge-id = " + (bridge + 1) + "\nbeacon = " + beaconMs + "ms",
            "[group " + GROUP + "]"));
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("bridge", "run", "--config", config.toString()));
    File log = folder.resolve("bridge" + bridge + ".log").toFile();
    return new ProcessBuilder(fabrics.command(fabrics.gateway(bridge), command))
        .redirectErrorStream(true)
        .redirectOutput(log)
        .start();
  }

  private Path status(int bridge) {
    return folder.resolve("status" + bridge);
  }

  private Path control(int bridge) {
    return folder.resolve("control" + bridge);
  }

  private BridgeStatus read(int bridge) {
    return BridgeStatus.read(status(bridge));
  }

  private boolean isOwner(int bridge) {
    try {
      return read(bridge).groups().stream().anyMatch(each -> each.role().equals("owner"));
    } catch (HeddleException notYet) {
      return false;
    }
  }

  /* Returns the number of the bridge that owns the group; -1 if none or both own it. */
  private int owner() {
    boolean first = isOwner(0);
    return first == isOwner(1) ? -1 : first ? 0 : 1;
  }

  /* Returns whether the bridges have settled and each is either active or in the given state. */
  private boolean bothAgree(String other) {
    try {
      for (int bridge = 0; bridge < BRIDGES; bridge++) {
        RedundancyStatus redundancy = read(bridge).redundancy();
        if (redundancy == null || !redundancy.settled() || redundancy.peers().isEmpty()) {
          return false;
        }
        boolean active = redundancy.state().equals("active");
        if (!active && !redundancy.state().equals(other)) {
          return false;
        }
      }
      return true;
    } catch (HeddleException notYet) {
      return false;
    }
  }

  private long counted() {
    long counted = 0;
    for (int bridge = 0; bridge < BRIDGES; bridge++) {
      counted +=
          read(bridge)
              .groups()
              .getFirst()
              .directions()
              .getFirst()
              .drops()
              .getOrDefault("no-owner", 0L);
    }
    return counted;
  }

  private void order(int bridge, String word) throws IOException {
    JsonNode outcome = Json.mapper().readTree(BridgeSocket.request(control(bridge), word));
    if (!outcome.path("followed").asBoolean()) {
      throw new HeddleException("the order " + word + ": " + outcome.path("text").asText());
    }
  }

  private void awaitFlow(NumberedLoad load) {
    long wanted = load.sent() + ENOUGH;
    await("payloads flow", () -> load.newest() >= wanted);
  }

  private void await(String what, BooleanSupplier holds) {
    long start = System.nanoTime();
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() - start > PATIENCE_NS) {
        throw new HeddleException(
            "not within a minute: " + what + "; output of the bridges:" + logs());
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private String logs() {
    StringBuilder text = new StringBuilder();
    for (int bridge = 0; bridge < BRIDGES; bridge++) {
      try {
        text.append('\n').append(Files.readString(folder.resolve("bridge" + bridge + ".log")));
      } catch (IOException none) {
        text.append("\nnothing that can be read: ").append(none.getMessage());
      }
    }
    return text.toString();
  }

  private void endAll() {
    for (Process each : processes) {
      each.destroyForcibly();
      each.onExit().join();
    }
  }

  private void delete() throws IOException {
    try (var files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.deleteIfExists(folder);
  }
}
