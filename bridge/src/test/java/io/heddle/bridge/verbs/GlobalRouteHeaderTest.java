package io.heddle.bridge.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GlobalRouteHeaderTest {
  /*
   * 10.1.0.1 to 239.1.1.1, DF, hop limit 64, UDP, 300 bytes. The checksum was calculated in Python.
   */
  private static final String IPV4 = "4500012c0000400040113fbd0a010001ef010101";
  private static final String FRONT = "60000000" + "00c81140" + "fd5da11d00000001";
  private static final String IPV6 =
      FRONT + "0000000000000001" + "ff1e0000000000004791000000000077";

  private final Arena arena = Arena.ofShared();
  private final long at = Memory.allocate(arena, GlobalRouteHeader.BYTES, 8);
  private final TrainBatch batch = new TrainBatch(1);

  @AfterEach
  void free() {
    arena.close();
  }

  private String read(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertEquals(GlobalRouteHeader.BYTES, bytes.length);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Memory.ALL, at, bytes.length);
    GlobalRouteHeader.read(at, batch, 0);
    return new Gid(batch.sourceHigh[0], batch.sourceLow[0])
        + " to "
        + new Gid(batch.destinationHigh[0], batch.destinationLow[0]);
  }

  @Test
  void readsIpv6FromWholeHeader() {
    assertEquals("fd5d:a11d:0:1::1 to ff1e::4791:0:0:77", read(IPV6));
  }

  @Test
  void readsIpv4FromLastTwentyBytes() {
    assertEquals("10.1.0.1 to 239.1.1.1", read("00".repeat(20) + IPV4));
    /* The bytes before the IPv4 header are left over from an earlier IPv6 packet. */
    assertEquals("10.1.0.1 to 239.1.1.1", read(IPV6.substring(0, 40) + IPV4));
  }

  @Test
  void ipv6AddressIsNotMistakenForIpv4Header() {
    String source = "fd5da11d" + "00000001" + "00000000" + "45000001";
    assertEquals(
        "fd5d:a11d:0:1::4500:1 to ff1e::77",
        read("6000000000c81140" + source + "ff1e0000000000000000000000000077"));
  }

  @Test
  void readsNoAddressWithoutHeader() {
    assertEquals(":: to ::", read("00".repeat(40)));
    read(IPV6);
    GlobalRouteHeader.clear(at);
    GlobalRouteHeader.read(at, batch, 0);
    assertEquals(0, batch.destinationHigh[0] | batch.destinationLow[0]);
  }
}
