package io.heddle.cli.bridge;

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
 * Every host sends numbered payloads to every group, and every other host says what it heard. A
 * thread for each host, in its namespace.
 *
 * <p>No clock decides: a sender stays at most a window ahead of the slowest hearer, and the run
 * ends when everything was heard, or nothing more comes for a long while.
 */
final class DemoTraffic {
  /* So few that one processor's backlog (net.core.netdev_max_backlog, 1000) holds those of all six hosts. */
  private static final long WINDOW = 24;
  private static final long LOOK_MS = 100;
  private static final long WAIT_NS = 1_000_000;
  private static final long SILENCE_NS = 60_000_000_000L;

  private final TwoFabrics fabrics;
  private final List<Gid> groups;
  private final long packetsEach;
  private final int payloadBytes;
  private final int train;
  private final Ear[] ears;
  private final AtomicLong progressNs = new AtomicLong(System.nanoTime());
  /* Nobody sends before all hear. */
  private final CountDownLatch ready;
  private volatile boolean ending;
  private volatile @Nullable RuntimeException failure;

  /** What one host heard. Written by its thread. */
  private static final class Ear {
    final BitSet[][] heard;
    final AtomicLong[] fromSender;
    volatile long across;
    volatile long within;
    volatile long duplicates;
    volatile long damaged;

    Ear(int hosts, int groups) {
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
   * @param packetsEach payloads of each host to each group
   * @param train payloads that a host sends at once; 1 for single ones
   */
  DemoTraffic(TwoFabrics fabrics, List<Gid> groups, long packetsEach, int payloadBytes, int train) {
    this.fabrics = fabrics;
    this.groups = groups;
    this.packetsEach = packetsEach;
    this.payloadBytes = payloadBytes;
    this.train = train;
    ready = new CountDownLatch(fabrics.hosts());
    ears = new Ear[fabrics.hosts() + 1];
    for (int i = 1; i < ears.length; i++) {
      ears[i] = new Ear(fabrics.hosts(), groups.size());
    }
  }

  /** Payloads that hosts of the other fabric should hear, all together. */
  long expectedAcross() {
    long hostsEach = fabrics.hosts() / 2;
    return 2 * hostsEach * hostsEach * groups.size() * packetsEach;
  }

  /** Payloads that hosts of the same fabric should hear from each other, without the bridge. */
  long expectedWithin() {
    long hostsEach = fabrics.hosts() / 2;
    return 2 * hostsEach * (hostsEach - 1) * groups.size() * packetsEach;
  }

  long across() {
    return sum(ear -> ear.across);
  }

  long within() {
    return sum(ear -> ear.within);
  }

  long duplicates() {
    return sum(ear -> ear.duplicates);
  }

  long damaged() {
    return sum(ear -> ear.damaged);
  }

  private long sum(ToLongFunction<Ear> of) {
    long sum = 0;
    for (int i = 1; i < ears.length; i++) {
      sum += of.applyAsLong(ears[i]);
    }
    return sum;
  }

  /** Runs it to its end. */
  void run(Runnable whileItRuns) {
    List<Thread> threads = new ArrayList<>();
    for (int host = 1; host <= fabrics.hosts(); host++) {
      int number = host;
      threads.add(Thread.ofPlatform().daemon().name("host " + host).start(() -> live(number)));
    }
    for (Thread each : threads) {
      while (each.isAlive()) {
        whileItRuns.run();
        try {
          each.join(LOOK_MS);
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

  private void live(int number) {
    String link = TwoFabrics.interfaceName(fabrics.side(number));
    try {
      NetworkNamespace.enter(fabrics.namespace(number));
      try (FabricHost host =
          new FabricHost(
              number, link, fabrics.address(number, true), fabrics.address(number, false))) {
        host.join(groups, link);
        meet();
        talk(host, number);
      }
    } catch (RuntimeException failed) {
      failure = failed;
      ending = true;
    }
  }

  private void meet() {
    ready.countDown();
    try {
      while (!ready.await(LOOK_MS, TimeUnit.MILLISECONDS) && !ending) {
        /* Another host isn't there yet. */
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      ending = true;
    }
  }

  private void talk(FabricHost host, int number) {
    Ear ear = ears[number];
    long all = packetsEach * groups.size();
    long sent = 0;
    progressNs.set(System.nanoTime());
    while (!ending) {
      sent = send(host, number, sent, all);
      int taken =
          host.hear(
              groups,
              WAIT_NS,
              (sender, group, payload, right) -> take(ear, number, sender, group, payload, right));
      long now = System.nanoTime();
      if (taken > 0) {
        progressNs.set(now);
      }
      if (across() + within() == expectedAcross() + expectedWithin()
          || now - progressNs.get() > SILENCE_NS) {
        return;
      }
    }
  }

  /* Payloads that were sent then. */
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
    for (int i = 1; i < ears.length; i++) {
      if (i != sender) {
        least = Math.min(least, ears[i].fromSender[sender].get());
      }
    }
    return least;
  }

  private void take(Ear ear, int hearer, int sender, int group, long payload, boolean right) {
    boolean sane =
        right && sender >= 1 && sender < ears.length && payload >= 0 && payload < packetsEach;
    if (!sane || sender == hearer) {
      ear.damaged++;
      return;
    }
    BitSet heard = ear.heard[sender][group];
    if (heard.get((int) payload)) {
      ear.duplicates++;
      return;
    }
    heard.set((int) payload);
    ear.fromSender[sender].incrementAndGet();
    if (fabrics.side(sender) == fabrics.side(hearer)) {
      ear.within++;
    } else {
      ear.across++;
    }
  }
}
