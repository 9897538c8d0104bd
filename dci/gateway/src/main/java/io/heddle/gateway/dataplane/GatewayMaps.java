package io.heddle.gateway.dataplane;

import io.heddle.addr.AddressPrefix;
import io.heddle.bpf.BpfMap;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Layouts of the program's maps, equal to the structs of gateway.bpf.c. Numbers are in the
 * machine's byte order, addresses in network byte order.
 *
 * <pre>
 * prefix     length 4 | address 16
 * flow_key   destination 16 | queue pair 4 | policy 4
 * flow       bytes 8 | packets 8 | first 8 | last 8 | wants move since 8
 *            | source 16 | hash 4 | source port 2 | list 1 | is steered 1
 * steer_key  destination 16 | source 16 | queue pair 4          steer  list 4
 * settings   digest 8 | gap 8 | deadline 8 | seed 4 | mark shift 4 | steers 4 | steers by source 4
 * count      packets 8 | bytes 8, one slot per processor
 * </pre>
 */
final class GatewayMaps {
  static final int SETTINGS_BYTES = 40;
  private static final int COUNT_BYTES = 16;
  private static final int MAPPED_BITS = 96;
  private static final byte[] ANY = new byte[AddressBytes.LENGTH];

  private GatewayMaps() {}

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
  }

  static byte[] number(int number) {
    return buffer(Integer.BYTES).putInt(number).array();
  }

  static byte[] prefix(AddressPrefix prefix) {
    int mapped = prefix.address() instanceof Inet4Address ? MAPPED_BITS : 0;
    return buffer(20)
        .putInt(mapped + prefix.lengthBits())
        .put(AddressBytes.of(prefix.address()))
        .array();
  }

  static byte[] steerKey(SteerKey key) {
    InetAddress source = key.source();
    return buffer(36)
        .put(AddressBytes.of(key.destination()))
        .put(source == null ? ANY : AddressBytes.of(source))
        .putInt(key.queuePair())
        .array();
  }

  static SteerKey steerKey(ByteBuffer key) {
    byte[] source = bytes(key, 16);
    return new SteerKey(
        AddressBytes.address(bytes(key, 0)),
        key.getInt(32),
        Arrays.equals(source, ANY) ? null : AddressBytes.address(source));
  }

  static byte[] settings(DataPlaneSettings settings, long digest, int steers, int bySource) {
    return buffer(SETTINGS_BYTES)
        .putLong(digest)
        .putLong(settings.gapNs())
        .putLong(settings.deadlineNs())
        .putInt(settings.seed())
        .putInt(settings.markShift())
        .putInt(steers)
        .putInt(bySource)
        .array();
  }

  static FlowRecord flow(ByteBuffer key, ByteBuffer flow) {
    return new FlowRecord(
        AddressBytes.address(bytes(key, 0)),
        key.getInt(16),
        key.getInt(20),
        AddressBytes.address(bytes(flow, 40)),
        flow.getShort(60) & 0xffff,
        flow.getLong(0),
        flow.getLong(8),
        flow.getLong(16),
        flow.getLong(24),
        flow.getInt(56),
        flow.get(62),
        flow.get(63) != 0);
  }

  /** Returns a counter's sum over all processors. */
  static PacketCount count(BpfMap counters, int at) {
    ByteBuffer slots = counters.lookup(number(at)).orElseThrow();
    long packets = 0;
    long bytes = 0;
    for (int slot = 0; slot < slots.capacity(); slot += COUNT_BYTES) {
      packets += slots.getLong(slot);
      bytes += slots.getLong(slot + 8);
    }
    return new PacketCount(packets, bytes);
  }

  private static byte[] bytes(ByteBuffer from, int at) {
    byte[] bytes = new byte[AddressBytes.LENGTH];
    from.get(at, bytes);
    return bytes;
  }
}
