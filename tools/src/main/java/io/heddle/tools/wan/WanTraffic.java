package io.heddle.tools.wan;

import io.heddle.addr.AddressText;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sender of RoCEv2-like packets in the near data centre, with a set rate for each queue pair. After
 * a delay of its thread it sends the missed packets of all queue pairs, up to a limit, so the ratio
 * of the rates stays.
 */
final class WanTraffic implements AutoCloseable {
  static final int PORT = 50_000;
  private static final int PAYLOAD = 4_000;

  /**
   * First 32 bits of a base transport header (BTH): opcode RDMA WRITE Only, partition key 0xffff.
   */
  static final int BTH_WORD = 0x0a40ffff;

  /*
   * Bits of a packet, which convert a rate into packets per second: payload, UDP header and IPv6
   * header.
   */
  private static final double PACKET_BITS = 8.0 * (PAYLOAD + 48);
  private static final long ROUND_NS = 2_000_000;
  private static final long MOST_LATE_NS = 1_000_000_000;

  /*
   * Longest delay of its thread, in ns, for which a sender from {@link #startEven} catches up; it
   * skips the packets that it missed beyond that. The kernel's queue between two namespaces can
   * hold the packets of this time.
   */
  private static final long LEAST_LATE_NS = 50_000_000;

  private final long mostLateNs;
  private final Thread thread;
  private volatile Map<Integer, Double> rates = Map.of();
  /* Only the sender's thread writes the next two fields. */
  private volatile long sent;
  private volatile long rounds;
  private volatile boolean ended;
  private volatile @Nullable Throwable failure;

  private WanTraffic(String namespace, long mostLateNs) {
    this.mostLateNs = mostLateNs;
    thread = Thread.ofPlatform().name("wan-traffic").daemon().unstarted(() -> run(namespace));
  }

  /** Starts a sender in a namespace. Its rates are empty at first. */
  static WanTraffic start(String namespace) {
    return start(new WanTraffic(namespace, MOST_LATE_NS));
  }

  /**
   * Starts a sender that skips most packets of a long delay instead of sending them as a burst, so
   * that no queue drops any.
   */
  static WanTraffic startEven(String namespace) {
    return start(new WanTraffic(namespace, LEAST_LATE_NS));
  }

  private static WanTraffic start(WanTraffic traffic) {
    traffic.thread.start();
    return traffic;
  }

  /**
   * Sets the rates.
   *
   * @param bits bits per second, by queue pair
   */
  void send(Map<Integer, Double> bits) {
    Map<Integer, Double> packets = new TreeMap<>();
    bits.forEach((queuePair, rate) -> packets.put(queuePair, rate / PACKET_BITS));
    rates = packets;
  }

  /**
   * Stops sending and waits until no packet is being sent.
   *
   * @return number of packets sent since the start
   */
  long stop() throws InterruptedException {
    rates = Map.of();
    long from = rounds;
    while (rounds < from + 2 && failure == null) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
    check();
    return sent;
  }

  private void run(String namespace) {
    try {
      NetworkNamespace.enter(namespace);
      sendUntilEnd();
    } catch (IOException | RuntimeException failed) {
      failure = failed;
    }
  }

  private void sendUntilEnd() throws IOException {
    try (DatagramSocket socket =
        new DatagramSocket(new InetSocketAddress(InetAddress.getByName(WanNodes.SOURCE), PORT))) {
      InetAddress to = Objects.requireNonNull(AddressText.parse(WanNodes.DESTINATION));
      Map<Integer, Double> owed = new TreeMap<>();
      long last = System.nanoTime();
      while (!ended) {
        LockSupport.parkNanos(ROUND_NS);
        long now = System.nanoTime();
        double seconds = Math.min(now - last, mostLateNs) / 1e9;
        last = now;
        for (Map.Entry<Integer, Double> each : rates.entrySet()) {
          double packets = owed.getOrDefault(each.getKey(), 0.0) + seconds * each.getValue();
          while (packets >= 1) {
            socket.send(packet(to, each.getKey()));
            packets--;
            sent++;
          }
          owed.put(each.getKey(), packets);
        }
        rounds++;
      }
    }
  }

  private static DatagramPacket packet(InetAddress to, int queuePair) {
    ByteBuffer payload = ByteBuffer.allocate(PAYLOAD);
    payload.putInt(BTH_WORD).putInt(queuePair);
    return new DatagramPacket(payload.array(), PAYLOAD, to, FlowHash.ROCE_PORT);
  }

  /**
   * @throws HeddleException if sending failed
   */
  void check() {
    Throwable why = failure;
    if (why != null) {
      throw new HeddleException("the demo's traffic failed: " + why.getMessage(), why);
    }
  }

  @Override
  public void close() throws InterruptedException {
    ended = true;
    thread.join();
  }
}
