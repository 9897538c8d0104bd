package io.heddle.tools.bridge;

import io.heddle.bridge.fabric.SystemClock;
import io.heddle.cli.bridge.FabricHost;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.ThreadAffinity;
import io.heddle.verbs.Gid;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

/**
 * Stream of packets at a steady rate from a host of fabric a. The kernel of another host stamps
 * each packet's arrival, so the delay of the receiving program isn't included. Both hosts are on
 * this machine, so their clock is the same.
 */
final class StampedStream implements AutoCloseable {
  private static final int SECOND_NS = 1_000_000_000;
  private static final int HEADERS_BYTES = 32;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HOPS = 2;
  private static final long QUIET_NS = 1_000_000_000;
  private static final long POLL_NS = 5_000_000;

  /*
   * Length in ns of the last part of a wait, in which the sender spins, since sleeping is inexact.
   * Before this part it sleeps.
   */
  private static final long SLEEP_NS = 300_000;

  private final SystemClock clock = new SystemClock();
  private final FabricHost sender;
  private final TwoFabrics fabrics;
  private final Map<Integer, FabricHost> receivers = new LinkedHashMap<>();
  private final int payloadBytes;
  private final int strideBytes;
  private final int taken;
  private final long[] sentNs;
  private final long[] arrivedNs;
  private int built = -1;

  /**
   * Results of a stream.
   *
   * @param latenciesNs latencies of the packets that arrived, sorted, ns
   * @param lost number of packets that didn't arrive
   * @param packetsPerSecond rate at which packets arrived
   */
  record Result(long[] latenciesNs, int lost, double packetsPerSecond) {}

  /**
   * @param from number of the sending host, of fabric a
   * @param to numbers of the receiving hosts
   * @param most largest number of packets of a stream
   * @param taken processor that the sender must not run on; negative for none
   */
  StampedStream(
      TwoFabrics fabrics, int from, List<Integer> to, int payloadBytes, int most, int taken) {
    this.taken = taken;
    this.fabrics = fabrics;
    this.payloadBytes = payloadBytes;
    strideBytes = payloadBytes + HEADERS_BYTES + 63 & ~63;
    sentNs = new long[most];
    arrivedNs = new long[most];
    sender = host(fabrics, from, strideBytes * most);
    sender.hops(HOPS);
    for (int each : to) {
      FabricHost receiver = host(fabrics, each, BUFFER_BYTES);
      receiver.enableTimestamps();
      receivers.put(each, receiver);
    }
  }

  private static FabricHost host(TwoFabrics fabrics, int number, int bufferBytes) {
    String link = TwoFabrics.interfaceName(fabrics.side(number));
    Gid ipv4 = fabrics.address(number, true);
    Gid ipv6 = fabrics.address(number, false);
    return NetworkNamespace.call(
        fabrics.namespace(number), () -> new FabricHost(number, link, ipv4, ipv6, bufferBytes));
  }

  private FabricHost receiver(int host) {
    return Objects.requireNonNull(receivers.get(host));
  }

  /** Joins a group at a receiving host. */
  void join(int to, Gid group) {
    NetworkNamespace.call(
        fabrics.namespace(to),
        () -> {
          receiver(to).join(List.of(group), TwoFabrics.interfaceName(fabrics.side(to)));
          return true;
        });
  }

  /**
   * Sends packets and waits for their arrivals.
   *
   * @param to number of the receiving host
   * @param packetsPerSecond rate at which packets are sent; 0 for full speed
   */
  Result run(int to, Gid group, int packets, double packetsPerSecond) {
    FutureTask<Result> stream =
        new FutureTask<>(() -> {
          avoidBusyProcessor();
          return stream(to, group, packets, packetsPerSecond);
        });
    /*
     * The sender pins its thread to a processor. It is a separate thread, so that programs started
     * by the calling thread may run on any processor.
     */
    new Thread(stream, "heddle-stamped-stream").start();
    try {
      return stream.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while packets flowed", interrupted);
    } catch (ExecutionException failed) {
      throw new HeddleException("a stream of packets failed", failed);
    }
  }

  private void avoidBusyProcessor() {
    BitSet others = ThreadAffinity.allowed();
    if (taken >= 0 && others.cardinality() > 1 && others.get(taken)) {
      others.clear(taken);
      ThreadAffinity.pinThisThread(others.nextSetBit(0));
    }
  }

  private Result stream(int to, Gid group, int packets, double packetsPerSecond) {
    FabricHost receiver = receiver(to);
    receiver.drainArrivals((number, at) -> {});
    Arrays.fill(arrivedNs, 0, packets, 0);
    int length = build(group, packets);
    clock.adjust();
    long start = System.nanoTime();
    for (int i = 0; i < packets; i++) {
      if (packetsPerSecond > 0) {
        awaitTime(start + (long) (i / packetsPerSecond * SECOND_NS));
      }
      long at = sender.packet() + (long) i * strideBytes;
      sentNs[i] = System.nanoTime();
      while (!sender.sendAt(at, group, length, 0)) {
        sentNs[i] = System.nanoTime();
      }
    }
    collect(receiver, packets);
    return result(packets);
  }

  /*
   * Builds the packets of a stream and returns their length. Each stream has different packet
   * numbers, since a bridge drops packets with known numbers as duplicates.
   */
  private int build(Gid group, int packets) {
    built++;
    int length = 0;
    for (int i = 0; i < packets; i++) {
      long at = sender.packet() + (long) i * strideBytes;
      long number = (long) built << Integer.SIZE | i;
      length = sender.build(at, group, 0, number, payloadBytes, 0);
    }
    return length;
  }

  private static void awaitTime(long timeNs) {
    long left = timeNs - System.nanoTime();
    while (left > 0) {
      if (left > SLEEP_NS) {
        LockSupport.parkNanos(left - SLEEP_NS);
      } else {
        Thread.onSpinWait();
      }
      left = timeNs - System.nanoTime();
    }
  }

  /* Records arrivals until all packets have arrived, or no packet has arrived for a second. */
  private void collect(FabricHost receiver, int packets) {
    int[] came = {0};
    long last = System.nanoTime();
    while (came[0] < packets && System.nanoTime() - last < QUIET_NS) {
      int before = came[0];
      receiver.drainArrivals((number, at) -> {
        int index = (int) number;
        if (number >>> Integer.SIZE == built && index < packets && arrivedNs[index] == 0) {
          arrivedNs[index] = at;
          came[0]++;
        }
      });
      if (came[0] == before) {
        LockSupport.parkNanos(POLL_NS);
      } else {
        last = System.nanoTime();
      }
    }
  }

  private Result result(int packets) {
    long[] latencies = new long[packets];
    int count = 0;
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int i = 0; i < packets; i++) {
      if (arrivedNs[i] != 0) {
        latencies[count] = clock.nanoTime(0, arrivedNs[i]) - sentNs[i];
        count++;
        first = Math.min(first, arrivedNs[i]);
        last = Math.max(last, arrivedNs[i]);
      }
    }
    long[] sorted = Arrays.copyOf(latencies, count);
    Arrays.sort(sorted);
    double rate = count < 2 ? 0 : (count - 1.0) * SECOND_NS / Math.max(1, last - first);
    return new Result(sorted, packets - count, rate);
  }

  @Override
  public void close() {
    sender.close();
    receivers.values().forEach(FabricHost::close);
  }
}
