package io.heddle.tools.bridge;

import io.heddle.cli.bridge.FabricHost;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Traffic of the demo. Every host sends numbered payloads to every group, and every other host
 * records the payloads that it receives. Each host has a thread in its namespace.
 *
 * <p>The traffic has no set rate: a sender stays at most a window of payloads ahead of its slowest
 * receiver. The run ends when everything was received, or after a long silence.
 */
final class DemoTraffic {
  /*
   * Number of payloads that a sender may be ahead. The payloads of all six hosts must fit into one
   * processor's backlog (net.core.netdev_max_backlog, 1000).
   */
  private static final long WINDOW = 24;
  private static final long POLL_MS = 100;
  private static final long WAIT_NS = 1_000_000;
  private static final long SILENCE_NS = 60_000_000_000L;

  private final TwoFabrics fabrics;
  private final List<Gid> groups;
  private final long packetsEach;
  private final int payloadBytes;
  private final int train;
  private final Receipts[] receipts;
  private final AtomicLong progressNs = new AtomicLong(System.nanoTime());
  /* Counted down by each host that can receive. Hosts send only when it has reached zero. */
  private final CountDownLatch ready;
  private volatile boolean ending;
  private volatile @Nullable RuntimeException failure;

  /** Payloads that one host has received. Only the host's thread writes them. */
  private static final class Receipts {
    final BitSet[][] heard;
    final AtomicLong[] fromSender;
    volatile long across;
    volatile long within;
    volatile long duplicates;
    volatile long damaged;

    Receipts(int hosts, int groups) {
      heard = new BitSet[hosts + 1][groups];
      fromSender = new AtomicLong[hosts + 1];
      for (int i = 0; i <= hosts; i++) {
        fromSender[i] = new AtomicLong();
        for (int j = 0; j < groups; j++) {
          heard[i][j] = new BitSet();
        }
      }
    }
  }

  /**
   * @param packetsEach number of payloads that each host sends to each group
   * @param train number of payloads that a host sends at once; 1 for single packets
   */
  DemoTraffic(TwoFabrics fabrics, List<Gid> groups, long packetsEach, int payloadBytes, int train) {
    this.fabrics = fabrics;
    this.groups = groups;
    this.packetsEach = packetsEach;
    this.payloadBytes = payloadBytes;
    this.train = train;
    ready = new CountDownLatch(fabrics.hosts());
    receipts = new Receipts[fabrics.hosts() + 1];
    for (int i = 1; i < receipts.length; i++) {
      receipts[i] = new Receipts(fabrics.hosts(), groups.size());
    }
  }

  /**
   * Returns the number of payloads that all hosts together should receive from the other fabric.
   */
  long expectedAcross() {
    long hostsEach = fabrics.hosts() / 2;
    return 2 * hostsEach * hostsEach * groups.size() * packetsEach;
  }

  /**
   * Returns the number of payloads that all hosts together should receive from their own fabric,
   * where the bridge isn't involved.
   */
  long expectedWithin() {
    long hostsEach = fabrics.hosts() / 2;
    return 2 * hostsEach * (hostsEach - 1) * groups.size() * packetsEach;
  }

  long deliveredAcross() {
    return sum(receipt -> receipt.across);
  }

  long deliveredWithin() {
    return sum(receipt -> receipt.within);
  }

  long duplicates() {
    return sum(receipt -> receipt.duplicates);
  }

  long damaged() {
    return sum(receipt -> receipt.damaged);
  }

  private long sum(ToLongFunction<Receipts> of) {
    long sum = 0;
    for (int i = 1; i < receipts.length; i++) {
      sum += of.applyAsLong(receipts[i]);
    }
    return sum;
  }

  /**
   * Runs the traffic to its end.
   *
   * @param whileItRuns action that is called repeatedly until then
   */
  void run(Runnable whileItRuns) {
    List<Thread> threads = new ArrayList<>();
    for (int host = 1; host <= fabrics.hosts(); host++) {
      int number = host;
      threads.add(Thread.ofPlatform().daemon().name("host " + host).start(() -> runHost(number)));
    }
    for (Thread each : threads) {
      while (each.isAlive()) {
        whileItRuns.run();
        try {
          each.join(POLL_MS);
        } catch (InterruptedException interrupted) {
          ending = true;
          Thread.currentThread().interrupt();
          throw new HeddleException("the traffic was interrupted", interrupted);
        }
      }
    }
    RuntimeException failed = failure;
    if (failed != null) {
      throw failed;
    }
  }

  private void runHost(int number) {
    String link = TwoFabrics.interfaceName(fabrics.side(number));
    try {
      NetworkNamespace.enter(fabrics.namespace(number));
      try (FabricHost host =
          new FabricHost(
              number, link, fabrics.address(number, true), fabrics.address(number, false))) {
        host.join(groups, link);
        awaitOthers();
        exchange(host, number);
      }
    } catch (RuntimeException failed) {
      failure = failed;
      ending = true;
    }
  }

  private void awaitOthers() {
    ready.countDown();
    try {
      while (!ready.await(POLL_MS, TimeUnit.MILLISECONDS) && !ending) {
        /* Another host can't receive yet. */
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      ending = true;
    }
  }

  private void exchange(FabricHost host, int number) {
    Receipts receipt = receipts[number];
    long all = packetsEach * groups.size();
    long sent = 0;
    progressNs.set(System.nanoTime());
    while (!ending) {
      sent = send(host, number, sent, all);
      int taken =
          host.receive(
              groups,
              WAIT_NS,
              (sender, group, payload, right) ->
                  countReceipt(receipt, number, sender, group, payload, right));
      long now = System.nanoTime();
      if (taken > 0) {
        progressNs.set(now);
      }
      if (deliveredAcross() + deliveredWithin() == expectedAcross() + expectedWithin()
          || now - progressNs.get() > SILENCE_NS) {
        return;
      }
    }
  }

  /*
   * Sends payloads until all are sent or the window is full. Returns the number of payloads that
   * were sent so far.
   */
  private long send(FabricHost host, int number, long sentBefore, long all) {
    long sent = sentBefore;
    while (sent < all && sent - slowest(number) < WINDOW) {
      int group = (int) (sent / packetsEach);
      long payload = sent % packetsEach;
      int row = (int) Math.min(train, packetsEach - payload);
      boolean left =
          row == 1
              ? host.send(groups.get(group), group, payload, payloadBytes)
              : host.sendTrain(groups.get(group), group, payload, row, payloadBytes);
      if (!left) {
        return sent;
      }
      sent += row;
    }
    return sent;
  }

  private long slowest(int sender) {
    long least = Long.MAX_VALUE;
    for (int i = 1; i < receipts.length; i++) {
      if (i != sender) {
        least = Math.min(least, receipts[i].fromSender[sender].get());
      }
    }
    return least;
  }

  private void countReceipt(
      Receipts receipt, int receiver, int sender, int group, long payload, boolean right) {
    boolean sane =
        right && sender >= 1 && sender < receipts.length && payload >= 0 && payload < packetsEach;
    if (!sane || sender == receiver) {
      receipt.damaged++;
      return;
    }
    BitSet heard = receipt.heard[sender][group];
    if (heard.get((int) payload)) {
      receipt.duplicates++;
      return;
    }
    heard.set((int) payload);
    receipt.fromSender[sender].incrementAndGet();
    if (fabrics.side(sender) == fabrics.side(receiver)) {
      receipt.within++;
    } else {
      receipt.across++;
    }
  }
}
