package io.heddle.tools.wan.figure;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.gateway.config.ElephantRules;
import io.heddle.gateway.dataplane.Buckets;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.DataPlaneSettings;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.flow.FlowWatch;
import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Cost of ten thousand queue pairs: the gateway's poll of all of them, and the BPF program's time
 * per packet.
 */
public final class PollFigures {
  private static final int QUEUE_PAIRS = 10_000;
  private static final int POLLS = 30;
  private static final int WARM_UP = 20;
  private static final int RUNS = 7;
  private static final int PACKETS = 200_000;
  private static final int PRIORITY = 18_500;
  private static final double MOST_POLL_MS = 50;
  private static final double MOST_PACKET_NS = 150;
  private static final int PAYLOAD_BYTES = 64;
  private static final ElephantRules RULES =
      new ElephantRules(100_000_000, 1_000_000_000, 5_000_000_000L);

  private PollFigures() {}

  /**
   * Measures a data plane that is attached to no interface.
   *
   * @throws HeddleException if the host or the build doesn't support this data plane
   */
  public static List<WanFigure> measure() {
    try (DataPlane plane = DataPlane.open(List.of(), PRIORITY)) {
      plane.configure(new DataPlaneSettings(1, 16, 0, 0));
      plane.setPolicies(Map.of(AddressPrefix.parse("fc00:2::/64"), 0));
      plane.setBuckets(0, Buckets.ofWeights(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3)));
      for (int i = 0; i < QUEUE_PAIRS; i++) {
        plane.run(packet(2 + i), 1);
      }
      return List.of(poll(plane), program(plane));
    }
  }

  private static WanFigure poll(DataPlane plane) {
    FlowWatch watch = new FlowWatch(RULES);
    Samples samples = new Samples();
    for (int i = 0; i < WARM_UP + POLLS; i++) {
      long begin = System.nanoTime();
      List<FlowRecord> flows = plane.flows();
      int classified = watch.sample(flows, System.nanoTime()).size();
      long took = System.nanoTime() - begin;
      if (classified != QUEUE_PAIRS) {
        throw new HeddleException(
            "the data plane has %s of %s queue pairs".formatted(classified, QUEUE_PAIRS));
      }
      if (i >= WARM_UP) {
        samples.addNs(took);
      }
    }
    return WanFigure.atMost(
        "E",
        String.format(Locale.ROOT, "poll and classify %,d queue pairs", QUEUE_PAIRS),
        samples.percentileMs(50),
        "ms",
        MOST_POLL_MS,
        "the median of %s polls, after %s that weren't measured".formatted(POLLS, WARM_UP));
  }

  private static WanFigure program(DataPlane plane) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < RUNS; i++) {
      least = Math.min(least, plane.run(packet(2 + i), PACKETS));
    }
    return WanFigure.atMost(
        "E",
        "program a packet",
        least,
        "ns",
        MOST_PACKET_NS,
        String.format(
            Locale.ROOT,
            "the least of %s runs of %,d packets, as the kernel measures it, with %,d queue pairs"
                + " known",
            RUNS,
            PACKETS,
            QUEUE_PAIRS));
  }

  /* Returns a frame of Ethernet, IPv6, UDP to RoCEv2's port, BTH and some payload. */
  private static byte[] packet(int queuePair) {
    int udpBytes = 8 + PAYLOAD_BYTES;
    ByteBuffer packet = ByteBuffer.allocate(14 + 40 + udpBytes);
    packet.put(new byte[12]).putShort((short) 0x86dd);
    packet.putInt(0x60000000).putShort((short) udpBytes).put((byte) FlowHash.UDP).put((byte) 64);
    packet.put(address(LoneGateway.SOURCE)).put(address(LoneGateway.DESTINATION));
    packet.putShort((short) 50_000).putShort((short) FlowHash.ROCE_PORT);
    packet.putShort((short) udpBytes).putShort((short) 0);
    packet.putInt(0x0a40ffff).putInt(queuePair);
    return packet.array();
  }

  private static byte[] address(String text) {
    InetAddress address = Objects.requireNonNull(AddressText.parse(text));
    return address.getAddress();
  }
}
