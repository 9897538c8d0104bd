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
 * Sends numbered datagrams to groups from one fabric, and hears what comes out in the other: one
 * machine with an interface in both, or a sender and a receiver. One thread does both.
 *
 * <p>It isn't the bridge and needs none on this machine. Where it does both, it first repeats a
 * datagram that doesn't count until it comes, since switches learn of a new member in a while.
 */
final class GroupTest {
  private static final long WAIT_NS = 1_000_000;
  private static final long PROBE_NS = 100_000_000;
  private static final long SECOND_NS = 1_000_000_000;

  /**
   * What was asked for.
   *
   * @param from end that sends; null for a receiver
   * @param to end that hears; null for a sender
   * @param names of the ways' ends
   * @param ways to test; of a receiver those that it hears
   * @param count numbered datagrams to each group and way
   * @param bytes of each payload
   * @param rate datagrams a second, all together
   * @param hops time to live
   * @param queueKey of the datagrams
   * @param patienceNs how long silence has to be that says that nothing more comes
   * @param waitNs how long a receiver waits for its sender
   */
  record Plan(
      @Nullable TestEnd from,
      @Nullable TestEnd to,
      List<String> names,
      List<TestedWay> ways,
      long count,
      int bytes,
      long rate,
      int hops,
      int queueKey,
      long patienceNs,
      long waitNs) {}

  private final Plan plan;
  private final TestDatagram.Common common;
  private final Map<Gid, TestedWay[]> byGroup = new HashMap<>();
  private final @Nullable FabricHost[] hosts = new FabricHost[2];
  /* The run that a receiver has heard; 0 for none. */
  private int run;
  private boolean oneClock = true;
  private long heardNs;

  GroupTest(Plan plan) {
    this.plan = plan;
    int number = 1 + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
    common = new TestDatagram.Common(number, plan.queueKey(), plan.count(), plan.bytes(), clock());
    run = plan.from() == null ? 0 : number;
    for (TestedWay each : plan.ways()) {
      byGroup.computeIfAbsent(each.group(), group -> new TestedWay[2])[each.origin()] = each;
    }
  }

  /* Machines have clocks of their own, and namespaces of one machine have not. */
  private static long clock() {
    try {
      String text = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      return UUID.fromString(text).getMostSignificantBits();
    } catch (IOException unreadable) {
      throw new HeddleException("the machine's boot_id can't be read", unreadable);
    }
  }

  /** Runs it to its end. */
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
        receive();
      } else if (to == null) {
        sendAll();
      } else {
        settle();
        sendAll();
        hearTheRest();
      }
      return report();
    }
  }

  private void open(Cleanup cleanup, int end, TestEnd at, boolean hears) {
    FabricHost host = cleanup.add(at.open(common.run(), hears));
    host.hops(plan.hops());
    hosts[end] = host;
    if (hears) {
      Memberships memberships = cleanup.add(at.memberships());
      byGroup.keySet().forEach(memberships::join);
    }
  }

  private void settle() {
    List<TestedWay> open = plan.ways().stream().filter(TestedWay::isOpen).toList();
    long start = System.nanoTime();
    long now = start;
    /* All of a round together, and no faster than the rate. */
    long roundNs = Math.max(PROBE_NS, open.size() * SECOND_NS / plan.rate());
    while (!open.stream().allMatch(TestedWay::isSettled) && now - start < plan.patienceNs()) {
      for (TestedWay each : open) {
        if (!each.isSettled()) {
          send(each, TestDatagram.PROBE);
        }
      }
      long round = now;
      do {
        hear(WAIT_NS);
        now = System.nanoTime();
      } while (now - round < roundNs && !open.stream().allMatch(TestedWay::isSettled));
    }
  }

  private void sendAll() {
    long start = System.nanoTime();
    long sent = 0;
    for (long number = 0; number < plan.count(); number++) {
      for (TestedWay each : plan.ways()) {
        long dueNs = start + sent * SECOND_NS / plan.rate();
        long left;
        do {
          left = dueNs - System.nanoTime();
          hear(Math.clamp(left, 0, WAIT_NS));
        } while (left > 0);
        while (!send(each, number)) {
          hear(WAIT_NS);
        }
        each.countSent();
        sent++;
      }
    }
  }

  private boolean send(TestedWay way, long number) {
    FabricHost host = hosts[way.origin()];
    if (host == null) {
      throw new IllegalStateException("nobody sends there");
    }
    try {
      return TestDatagram.send(host, common, way.origin(), way.group(), number);
    } catch (SystemCallException refused) {
      if (refused.errno() == Errno.EMSGSIZE) {
        throw new HeddleException(
            "payloads of " + plan.bytes() + " bytes don't fit the interface's MTU", refused);
      }
      throw refused;
    }
  }

  private void hearTheRest() {
    heardNs = System.nanoTime();
    while (!isComplete() && System.nanoTime() - heardNs < plan.patienceNs()) {
      hear(WAIT_NS);
    }
  }

  private boolean isComplete() {
    return plan.ways().stream().allMatch(each -> !each.isOpen() || each.isComplete());
  }

  private void receive() {
    long start = System.nanoTime();
    while (run == 0) {
      hear(WAIT_NS);
      if (System.nanoTime() - start > plan.waitNs()) {
        throw new HeddleException(
            "nothing of a sender came within "
                + plan.waitNs() / SECOND_NS
                + " s; start heddle bridge test --from in the other fabric, then look at heddle"
                + " bridge show");
      }
    }
    hearTheRest();
  }

  private void hear(long waitNs) {
    for (int end = 0; end < hosts.length; end++) {
      FabricHost host = hosts[end];
      if (host != null) {
        int to = end;
        host.await(waitNs);
        host.drain((length, arrivedNs) -> {
          if (TestDatagram.isOne(host, length)) {
            take(TestDatagram.read(host, length, arrivedNs), to);
          }
        });
      }
    }
  }

  private void take(TestDatagram.Heard datagram, int end) {
    TestedWay[] ways = byGroup.get(datagram.group());
    boolean sane = datagram.origin() >= 0 && datagram.origin() < 2;
    if (ways == null || !sane || datagram.number() >= Math.max(plan.count(), datagram.count())) {
      return;
    }
    if (run == 0 && datagram.right()) {
      run = datagram.run();
      oneClock = datagram.clock() == common.clock();
      plan.ways().forEach(each -> each.sentElsewhere(datagram.count()));
    }
    TestedWay way = ways[datagram.origin()];
    if (way != null && datagram.run() == run) {
      heardNs = System.nanoTime();
      way.hear(datagram, end);
    }
  }

  private GroupTestReport report() {
    TestEnd from = plan.from();
    TestEnd to = plan.to();
    boolean sender = to == null;
    List<GroupTestReport.Way> ways = new ArrayList<>();
    for (TestedWay each : plan.ways()) {
      String begin = plan.names().get(each.origin());
      ways.add(each.report(begin, plan.names().get(1 - each.origin()), sender));
    }
    return new GroupTestReport(
        String.format(Locale.ROOT, "%08x", run),
        sender ? "sender" : from == null ? "receiver" : "both",
        from == null ? "" : from.toString(),
        to == null ? "" : to.toString(),
        plan.count(),
        plan.bytes(),
        oneClock,
        List.copyOf(ways),
        ways.stream().allMatch(GroupTestReport.Way::holds));
  }
}
