package io.heddle.tools.bridge;

import io.heddle.cli.bridge.FabricHost;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Load between two hosts. A host of fabric a continuously sends numbered payloads to a group. A
 * host of fabric b counts how often each payload arrives.
 */
public final class NumberedLoad implements AutoCloseable {
  private static final int MOST = 1 << 20;
  private static final int PAYLOAD_BYTES = 100;
  private static final long PAUSE_NS = 500_000;
  private static final long WAIT_NS = 10_000_000;

  private final TwoFabrics fabrics;
  private final Gid group;
  private final AtomicIntegerArray times = new AtomicIntegerArray(MOST);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong newest = new AtomicLong(-1);
  private volatile long receivedNs;
  private volatile long longestPauseNs;
  private volatile long damaged;
  private final Thread sender;
  private final Thread receiver;
  private volatile boolean sending = true;
  private volatile boolean receiving = true;
  private volatile @Nullable Throwable failure;

  public NumberedLoad(TwoFabrics fabrics, int from, int to, Gid group) {
    this.fabrics = fabrics;
    this.group = group;
    receiver = start("receiver", to, this::receive);
    sender = start("sender", from, this::send);
  }

  /** Main loop of a host. */
  private interface HostLoop {
    void run(FabricHost host, int number);
  }

  private Thread start(String name, int number, HostLoop loop) {
    return Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(() -> {
          try {
            NetworkNamespace.enter(fabrics.namespace(number));
            String link = TwoFabrics.interfaceName(fabrics.side(number));
            Gid ipv4 = fabrics.address(number, true);
            try (FabricHost host =
                new FabricHost(number, link, ipv4, fabrics.address(number, false))) {
              host.join(List.of(group), link);
              loop.run(host, number);
            }
          } catch (Throwable thrown) {
            failure = thrown;
          }
        });
  }

  private void send(FabricHost host, int number) {
    while (sending && sent.get() < MOST) {
      if (host.send(group, 0, sent.get(), PAYLOAD_BYTES)) {
        sent.incrementAndGet();
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  private void receive(FabricHost host, int number) {
    while (receiving) {
      host.receive(
          List.of(group),
          WAIT_NS,
          (sender, ofGroup, payload, right) -> {
            if (!right) {
              damaged++;
              return;
            }
            long now = System.nanoTime();
            longestPauseNs = Math.max(longestPauseNs, receivedNs == 0 ? 0 : now - receivedNs);
            receivedNs = now;
            times.incrementAndGet((int) payload);
            newest.set(payload);
          });
    }
  }

  public long sent() {
    return sent.get();
  }

  /** Returns the number of the newest received payload. */
  public long newest() {
    Throwable thrown = failure;
    if (thrown != null) {
      throw new HeddleException("a host of the load failed: " + thrown, thrown);
    }
    return newest.get();
  }

  /**
   * Returns the number of payloads, from number {@code first} on, that arrived exactly {@code
   * often} times.
   */
  public long countArrived(int often, long first) {
    long count = 0;
    for (int i = (int) first; i < sent.get(); i++) {
      count += times.get(i) == often ? 1 : 0;
    }
    return count;
  }

  /** Returns the number of payloads whose CRC or bytes were wrong. */
  public long damaged() {
    return damaged;
  }

  /** Returns the longest time between two payloads since the last call of this method, ns. */
  public long longestPauseNs() {
    long longest = longestPauseNs;
    longestPauseNs = 0;
    return longest;
  }

  /** Returns the number of lost payloads, from number {@code first} to the newest received one. */
  public long lost(long first) {
    long count = 0;
    for (int i = (int) first; i < newest.get(); i++) {
      count += times.get(i) == 0 ? 1 : 0;
    }
    return count;
  }

  /**
   * Returns the length of the longest run of consecutive lost payloads, from number {@code first}
   * on.
   */
  public long longestGap(long first) {
    long longest = 0;
    long row = 0;
    for (int i = (int) first; i < newest.get(); i++) {
      row = times.get(i) == 0 ? row + 1 : 0;
      longest = Math.max(longest, row);
    }
    return longest;
  }

  /** Stops sending. */
  public void stopSending() throws InterruptedException {
    sending = false;
    sender.join();
  }

  @Override
  public void close() {
    sending = false;
    receiving = false;
    for (Thread each : List.of(sender, receiver)) {
      try {
        each.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
