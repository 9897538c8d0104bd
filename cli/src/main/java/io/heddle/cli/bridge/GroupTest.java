package io.heddle.cli.bridge;

import io.heddle.bridge.fabric.Memberships;
import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Test that sends numbered datagrams to groups from one fabric, and receives them in the other. It
 * runs on one machine with an interface in both fabrics, or as a sender and a receiver on two
 * machines. One thread sends and receives.
 *
 * <p>It shares no state with the bridge, which runs on another machine. On a machine in both
 * fabrics, the test first repeats an uncounted datagram until one arrives, since switches learn of
 * a new group member with a delay.
 */
final class GroupTest {
  private static final long WAIT_NS = 1_000_000;
  private static final long PROBE_NS = 100_000_000;
  private static final long SECOND_NS = 1_000_000_000;

  /**
   * Parameters of a test.
   *
   * @param from the sending end; null for a receiver
   * @param to the receiving end; null for a sender
   * @param names names of the sending and the receiving end in the report
   * @param directions directions to test; for a receiver, those whose datagrams it receives
   * @param count numbered datagrams to each group and direction
   * @param bytes length of each payload
   * @param rate datagrams per second in total
   * @param hops time to live
   * @param queueKey queue key of the datagrams
   * @param quietNs silence that ends the wait for datagrams
   * @param waitNs how long a receiver waits for its sender
   */
  record Plan(
      @Nullable TestEnd from,
      @Nullable TestEnd to,
      List<String> names,
      List<TestedDirection> directions,
      long count,
      int bytes,
      long rate,
      int hops,
      int queueKey,
      long quietNs,
      long waitNs) {}

  private final Plan plan;
  private final TestDatagram.Common common;
  private final Map<Gid, TestedDirection[]> byGroup = new HashMap<>();
  private final @Nullable FabricHost[] hosts = new FabricHost[2];
  /* Number of the test. A receiver takes it from the first datagram; until then it is 0. */
  private int run;
  private boolean oneClock = true;
  private long receivedNs;

  GroupTest(Plan plan) {
    this.plan = plan;
    int number = 1 + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
    common = new TestDatagram.Common(number, plan.queueKey(), plan.count(), plan.bytes(), clock());
    run = plan.from() == null ? 0 : number;
    for (TestedDirection each : plan.directions()) {
      byGroup.computeIfAbsent(each.group(), group -> new TestedDirection[2])[each.origin()] = each;
    }
  }

  /* Returns an identifier of this machine's clock, which all its namespaces share. */
  private static long clock() {
    try {
      String text = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      return UUID.fromString(text).getMostSignificantBits();
    } catch (IOException unreadable) {
      throw new HeddleException("the machine's boot_id can't be read", unreadable);
    }
  }

  /** Runs the test to its end. */
  GroupTestReport run() {
    TestEnd from = plan.from();
    TestEnd to = plan.to();
    try (Cleanup cleanup = new Cleanup()) {
      if (from != null) {
        open(cleanup, 0, from, to != null);
      }
      if (to != null) {
        open(cleanup, 1, to, true);
      }
      if (from == null) {
        awaitAndReceive();
      } else if (to == null) {
        sendAll();
      } else {
        settle();
        sendAll();
        receiveRemaining();
      }
      return report();
    }
  }

  private void open(Cleanup cleanup, int end, TestEnd at, boolean receives) {
    FabricHost host = cleanup.add(at.open(common.run(), receives));
    host.hops(plan.hops());
    hosts[end] = host;
    if (receives) {
      Memberships memberships = cleanup.add(at.memberships());
      byGroup.keySet().forEach(memberships::join);
    }
  }

  private void settle() {
    List<TestedDirection> open =
        plan.directions().stream().filter(TestedDirection::isOpen).toList();
    long start = System.nanoTime();
    long now = start;
    /*
     * Each round sends one probe in each direction. It lasts so long that the probes don't exceed
     * the configured rate.
     */
    long roundNs = Math.max(PROBE_NS, open.size() * SECOND_NS / plan.rate());
    while (!open.stream().allMatch(TestedDirection::isSettled) && now - start < plan.quietNs()) {
      for (TestedDirection each : open) {
        if (!each.isSettled()) {
          send(each, TestDatagram.PROBE);
        }
      }
      long round = now;
      do {
        receive(WAIT_NS);
        now = System.nanoTime();
      } while (now - round < roundNs && !open.stream().allMatch(TestedDirection::isSettled));
    }
  }

  private void sendAll() {
    long start = System.nanoTime();
    long sent = 0;
    for (long number = 0; number < plan.count(); number++) {
      for (TestedDirection each : plan.directions()) {
        long dueNs = start + sent * SECOND_NS / plan.rate();
        long left;
        do {
          left = dueNs - System.nanoTime();
          receive(Math.clamp(left, 0, WAIT_NS));
        } while (left > 0);
        while (!send(each, number)) {
          receive(WAIT_NS);
        }
        each.countSent();
        sent++;
      }
    }
  }

  private boolean send(TestedDirection direction, long number) {
    FabricHost host = hosts[direction.origin()];
    if (host == null) {
      throw new IllegalStateException("no sender at this end");
    }
    try {
      return TestDatagram.send(host, common, direction.origin(), direction.group(), number);
    } catch (SystemCallException refused) {
      if (refused.errno() == Errno.EMSGSIZE) {
        throw new HeddleException(
            "payloads of " + plan.bytes() + " bytes don't fit the interface's MTU", refused);
      }
      throw refused;
    }
  }

  private void receiveRemaining() {
    receivedNs = System.nanoTime();
    while (!isComplete() && System.nanoTime() - receivedNs < plan.quietNs()) {
      receive(WAIT_NS);
    }
  }

  private boolean isComplete() {
    return plan.directions().stream().allMatch(each -> !each.isOpen() || each.isComplete());
  }

  private void awaitAndReceive() {
    long start = System.nanoTime();
    while (run == 0) {
      receive(WAIT_NS);
      if (System.nanoTime() - start > plan.waitNs()) {
        throw new HeddleException(
            "no datagram of a sender arrived within "
                + plan.waitNs() / SECOND_NS
                + " s; start heddle bridge test --from in the other fabric, then look at heddle"
                + " bridge show");
      }
    }
    receiveRemaining();
  }

  private void receive(long waitNs) {
    for (int end = 0; end < hosts.length; end++) {
      FabricHost host = hosts[end];
      if (host != null) {
        int to = end;
        host.await(waitNs);
        host.drain((length, arrivedNs) -> {
          if (TestDatagram.isTestDatagram(host, length)) {
            take(TestDatagram.read(host, length, arrivedNs), to);
          }
        });
      }
    }
  }

  private void take(TestDatagram.Received datagram, int end) {
    TestedDirection[] directions = byGroup.get(datagram.group());
    boolean sane = datagram.origin() >= 0 && datagram.origin() < 2;
    if (directions == null
        || !sane
        || datagram.number() >= Math.max(plan.count(), datagram.count())) {
      return;
    }
    if (run == 0 && datagram.isIntact()) {
      run = datagram.run();
      oneClock = datagram.clock() == common.clock();
      plan.directions().forEach(each -> each.setSent(datagram.count()));
    }
    TestedDirection direction = directions[datagram.origin()];
    if (direction != null && datagram.run() == run) {
      receivedNs = System.nanoTime();
      direction.receive(datagram, end);
    }
  }

  private GroupTestReport report() {
    TestEnd from = plan.from();
    TestEnd to = plan.to();
    boolean sender = to == null;
    List<GroupTestReport.Direction> directions = new ArrayList<>();
    for (TestedDirection each : plan.directions()) {
      String begin = plan.names().get(each.origin());
      directions.add(each.report(begin, plan.names().get(1 - each.origin()), sender));
    }
    return new GroupTestReport(
        String.format(Locale.ROOT, "%08x", run),
        sender ? "sender" : from == null ? "receiver" : "both",
        from == null ? "" : from.toString(),
        to == null ? "" : to.toString(),
        plan.count(),
        plan.bytes(),
        oneClock,
        List.copyOf(directions),
        directions.stream().allMatch(GroupTestReport.Direction::matchesConfiguration));
  }
}
