package io.heddle.bridge.multicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.table.AddressTable;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses and MGIDs of groups, and the filter of sources. */
class GroupTest {
  private static Gid address(String text) {
    return Gid.of(Objects.requireNonNull(AddressText.parse(text)));
  }

  /* Expected MGIDs are from ib2roce (setup_mc_addrs) and RFC 4391. */
  @ParameterizedTest
  @CsvSource({
    "RDMA, 239.1.2.3, 4711, ::ffff:239.1.2.3",
    "IPv4, 239.1.2.3, 4711, ff15:401b:ffff::f01:203",
    "CLLM, 239.1.2.3, 4711, ff15:a01b::1267:ef01:203",
    "IB, 239.1.2.3, 4711, ff15:4001::f01:203",
    "RDMA, ff05::1:2, 0, ff05::1:2",
    "IPv6, ff15::7:8:9:a:b, 0, ff15:601b:ffff:7:8:9:a:b"
  })
  void mgidsEncodeAndDecode(String format, String group, int port, String mgid) {
    MgidFormat named = MgidFormat.named(format);
    Gid made = named.encode(address(group), port);
    assertEquals(address(mgid), made);
    Gid back = named.decode(made);
    assertEquals(format.equals("IPv6") ? address("ff15::7:8:9:a:b") : address(group), back);
    assertEquals(format.equals("CLLM") ? port : 0, named.portOf(made));
  }

  /*
   * MGIDs contain the full member's key 0x8001 even if the partition key is the limited member's,
   * 0x0001.
   */
  @ParameterizedTest
  @CsvSource({
    "IPv4, 239.1.2.3, 0x8001, ff15:401b:8001::f01:203",
    "IPv6, ff15::7:8:9:a:b, 0x0001, ff15:601b:8001:7:8:9:a:b",
    "CLLM, 239.1.2.3, 0x8001, ff15:a01b::ef01:203"
  })
  void mgidsContainPartition(String format, String group, String key, String mgid) {
    MgidFormat named = MgidFormat.named(format);
    assertEquals(address(mgid), named.encode(address(group), 0, Integer.decode(key)), format);
  }

  @Test
  void rejectsMgidOfOtherFormat() {
    Gid mgid = MgidFormat.IPV4.encode(address("239.1.2.3"), 0);
    assertThrows(IllegalArgumentException.class, () -> MgidFormat.CLLM.decode(mgid));
    assertThrows(IllegalArgumentException.class, () -> MgidFormat.RDMA.decode(address("10.0.0.1")));
    assertThrows(
        IllegalArgumentException.class, () -> MgidFormat.CLLM.encode(address("ff05::1"), 1));
  }

  @Test
  void findsExactlyGroupsOfTable() {
    Random random = seeded();
    Map<Gid, Integer> groups = new HashMap<>();
    for (int i = 0; i < 3000; i++) {
      groups.put(new Gid(0, 0xffff_e000_0000L | random.nextInt(1 << 28)), i);
      groups.put(new Gid(0xff05L << 48, random.nextLong()), -i);
    }
    AddressTable<Integer> table = new AddressTable<>(groups);
    groups.forEach(
        (address, value) -> assertEquals(value, table.find(address.high(), address.low())));
    for (int i = 0; i < 3000; i++) {
      Gid other = new Gid(0xff02L << 48, random.nextLong());
      assertNull(table.find(other.high(), other.low()));
    }
    assertNull(new AddressTable<Integer>(Map.of()).find(1, 2));
  }

  @Test
  void rulesApplyInOrder() {
    Gid own = address("10.1.0.254");
    Gid other = address("10.1.0.253");
    LoopRules rules =
        new LoopRules(
            List.of(own, address("fd01::254")),
            List.of(own, other, address("192.168.1.1")),
            List.of(
                new LoopRules.Prefix(address("10.1.0.0"), 96 + 24),
                new LoopRules.Prefix(address("fd01::"), 64)));
    assertEquals(DropReason.OWN_SOURCE, rules.dropReason(own.high(), own.low()));
    assertEquals(DropReason.KNOWN_BRIDGE, rules.dropReason(other.high(), other.low()));
    assertEquals(DropReason.KNOWN_BRIDGE, against(rules, "192.168.1.1"));
    assertEquals(DropReason.FOREIGN_SOURCE, against(rules, "10.1.1.1"));
    assertEquals(DropReason.FOREIGN_SOURCE, against(rules, "fd02::1"));
    assertNull(against(rules, "10.1.0.77"));
    assertNull(against(rules, "fd01::ffff:1"));
    assertNull(against(new LoopRules(List.of(), List.of(), List.of()), "8.8.8.8"));
  }

  private static DropReason against(LoopRules rules, String source) {
    Gid address = address(source);
    return rules.dropReason(address.high(), address.low());
  }

  @Test
  void recognizesCopyForHundredMilliseconds() {
    try (Arena arena = Arena.ofConfined()) {
      StormGuard guard = new StormGuard(arena);
      long now = 5_000_000_000L;
      guard.sent(42, now);
      assertTrue(guard.wasSent(42, now));
      assertTrue(guard.wasSent(42, now + StormGuard.MEMORY_NS - 1));
      assertFalse(guard.wasSent(42, now + StormGuard.MEMORY_NS));
      assertFalse(guard.wasSent(43, now));
    }
  }

  @Test
  void hundredThousandPacketsCauseNoFalseCopy() {
    Random random = seeded();
    try (Arena arena = Arena.ofConfined()) {
      StormGuard guard = new StormGuard(arena);
      long packet = Memory.allocate(arena, 64, 8);
      long now = 1;
      for (int i = 0; i < 100_000; i++) {
        Memory.setLong(packet + 32, i);
        guard.sent(StormGuard.digest(random.nextInt(), packet, 40), now);
      }
      int taken = 0;
      for (int i = 100_000; i < 200_000; i++) {
        Memory.setLong(packet + 32, i);
        if (guard.wasSent(StormGuard.digest(random.nextInt(), packet, 40), now)) {
          taken++;
        }
      }
      assertEquals(0, taken);
    }
  }

  @Test
  void digestCoversEveryByte() {
    try (Arena arena = Arena.ofConfined()) {
      long packet = Memory.allocate(arena, 64, 8);
      long digest = StormGuard.digest(7, packet, 40);
      assertEquals(digest, StormGuard.digest(7, packet, 40));
      assertNotEquals(digest, StormGuard.digest(8, packet, 40));
      assertNotEquals(digest, StormGuard.digest(7, packet, 44));
      Memory.setInt(packet + 8, 1);
      assertNotEquals(digest, StormGuard.digest(7, packet, 40));
    }
  }

  private static Random seeded() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("GroupTest -Dheddle.seed=" + seed);
    return new Random(seed);
  }

  @Test
  void payloadDigestIgnoresPsnAndSourceQueuePair() {
    try (Arena arena = Arena.ofConfined()) {
      Gid group = new Gid(0, 0xffff_ef01_0101L);
      long one = packet(arena, 5, 0x11, 13);
      long other = packet(arena, 6, 0x12, 13);
      long digest = StormGuard.payloadDigest(group, one, 40);
      assertEquals(digest, StormGuard.payloadDigest(group, other, 40));
      assertNotEquals(
          digest, StormGuard.payloadDigest(new Gid(0, 0xffff_ef01_0102L), one, 40), "group");
      assertNotEquals(digest, StormGuard.payloadDigest(group, packet(arena, 5, 0x11, 12), 40));
      for (int i = 0; i < 13; i++) {
        long changed = packet(arena, 5, 0x11, 13);
        Memory.ALL.set(ValueLayout.JAVA_BYTE, changed + DatagramFormat.HEADER_BYTES + i, (byte) 99);
        assertNotEquals(digest, StormGuard.payloadDigest(group, changed, 40), "byte " + i);
      }
    }
  }

  /* Returns a packet with a payload of this length, in which each byte is its own index. */
  private static long packet(Arena arena, int psn, int source, int payloadBytes) {
    long packet = Memory.allocate(arena, 64, 8);
    DatagramFormat.write(
        packet, -payloadBytes & 3, DatagramFormat.MULTICAST_QUEUE_PAIR, psn, 7, source);
    for (int i = 0; i < payloadBytes; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + DatagramFormat.HEADER_BYTES + i, (byte) i);
    }
    return packet;
  }
}
