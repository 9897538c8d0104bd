package io.heddle.tools.wan;

import io.heddle.addr.AddressText;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.tools.wan.figure.Samples;
import io.heddle.tools.wan.figure.WanFigure;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Measurement of the cost that the gateway's BPF program adds to a packet's whole path. The near
 * host has a second link to the gateway, on which no program runs. From the second link, a plain
 * SRv6 route leads along the same path.
 */
final class WanPath {
  private static final String PLAIN = "fc00:2:0:9::2";
  private static final String PLAIN_ROUTE =
      "fc00:2:0:9::/64 encap seg6 mode encap segs 5f00:0:1::1,5f00:0:99::d6 dev w1";
  private static final int FROM = 0x20000;
  private static final int PORT = 50_002;
  private static final int PAYLOAD = 1_024;
  private static final int ROUNDS = 200;
  private static final int WARM_UP = 50;
  private static final int BURST = 100;
  private static final int QUARTER = 25;
  private static final double LEAST_ARRIVED = 0.95;
  private static final int MOST_POLLS = 200;
  private static final Path DEV = Path.of("/proc/thread-self/net/dev");
  private static final double MOST = 1.2;

  private final NetworkNamespaces nodes;

  WanPath(NetworkNamespaces nodes) {
    this.nodes = nodes;
  }

  private void connect() {
    String gateway = WanNodes.gateway(1);
    nodes.add(
        new NetworkTopology()
            .link(WanNodes.H1 + " lan2 mtu 9000", gateway + " lan2 mtu 9000")
            .address(WanNodes.H1, "lan2", "fc00:9::1/64")
            .address(gateway, "lan2", "fc00:9::ff/64")
            .ip(gateway, "route add " + PLAIN_ROUTE)
            .ip(WanNodes.H1, "route add fc00:2:0:9::/64 via fc00:9::ff dev lan2")
            .address(WanNodes.gateway(2), "lan", "fc00:2:0:9::ff/64")
            .address(WanNodes.H2, "lan", PLAIN + "/64"));
  }

  /*
   * Returns the number of packets that the far host has received, by /proc/net/dev
   * (proc_pid_net(5)).
   */
  private long arrived() {
    return NetworkNamespace.call(
        nodes.name(WanNodes.H2),
        () ->
            Files.readAllLines(DEV).stream()
                .filter(line -> line.strip().startsWith("lan:"))
                .mapToLong(line -> Long.parseLong(line.split(":")[1].strip().split("\\s+")[1]))
                .findFirst()
                .orElse(0));
  }

  /*
   * Waits until this many packets have arrived. On a busy machine packets wait between two nodes
   * until a processor is free. The queue there holds few packets, so the next burst must not begin
   * earlier.
   */
  private void awaitArrival(long count) throws InterruptedException {
    for (int poll = 0; poll < MOST_POLLS && arrived() < count; poll++) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /**
   * Sends bursts alternately with and without the program, and returns the ratio of their times.
   *
   * @throws HeddleException if more than 5 % of the packets are lost
   */
  WanFigure measure() {
    connect();
    Samples with = new Samples();
    Samples without = new Samples();
    long before = arrived();
    NetworkNamespace.call(
        nodes.name(WanNodes.H1),
        () -> {
          send(with, without, before);
          return null;
        });
    long sent = 2L * BURST * (ROUNDS + WARM_UP);
    long came = arrived() - before;
    if (came < LEAST_ARRIVED * sent) {
      throw new HeddleException(
          "of %s packets %s arrived at the far host; their path can't be measured"
              .formatted(sent, came));
    }
    double us = 1e3 / BURST;
    return WanFigure.atMost(
        "E",
        "time of the path with the program",
        with.percentileMs(QUARTER) / without.percentileMs(QUARTER),
        "times",
        MOST,
        String.format(
            Locale.ROOT,
            "%.1f µs a packet over five nodes in one processor, %.1f without the program; a quarter"
                + " of %s bursts took less",
            us * with.percentileMs(QUARTER),
            us * without.percentileMs(QUARTER),
            ROUNDS));
  }

  private void send(Samples with, Samples without, long before)
      throws IOException, InterruptedException {
    int queuePair = WanDemo.queuePairs(List.of(1), FROM).getFirst();
    InetSocketAddress own = new InetSocketAddress(InetAddress.getByName(WanNodes.SOURCE), PORT);
    try (DatagramSocket socket = new DatagramSocket(own)) {
      for (int round = -WARM_UP; round < ROUNDS; round++) {
        long sent = before + 2L * BURST * (round + WARM_UP);
        long steered = burst(socket, WanNodes.DESTINATION, queuePair);
        awaitArrival(sent + BURST);
        long plain = burst(socket, PLAIN, queuePair);
        awaitArrival(sent + 2 * BURST);
        if (round >= 0) {
          with.addNs(steered);
          without.addNs(plain);
        }
      }
    }
  }

  /*
   * Sends a burst and returns its duration in ns. The sender's processor carries each packet over
   * all nodes before it sends the next one, so the duration includes the whole path.
   */
  private static long burst(DatagramSocket socket, String destination, int queuePair)
      throws IOException {
    ByteBuffer payload = ByteBuffer.allocate(PAYLOAD);
    payload.putInt(WanTraffic.BTH_WORD).putInt(queuePair);
    DatagramPacket packet =
        new DatagramPacket(
            payload.array(),
            PAYLOAD,
            Objects.requireNonNull(AddressText.parse(destination)),
            FlowHash.ROCE_PORT);
    long begin = System.nanoTime();
    for (int i = 0; i < BURST; i++) {
      socket.send(packet);
    }
    return System.nanoTime() - begin;
  }
}
