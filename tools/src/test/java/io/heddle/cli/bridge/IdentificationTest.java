package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Test of the IPv4 identifications that the kernel gives to the packets of a socket like the
 * bridge's. The invariant CRC covers the identification, so a sender must know it in advance.
 */
@EndsWithin(60)
@SystemTest
class IdentificationTest {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int AF_PACKET = 17;
  private static final int SOCK_DGRAM_NONBLOCK = 2 | 0x800;
  private static final int ETH_P_IP_NETWORK_ORDER = 0x0008;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HOST_A = 1;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @Test
  void segmentsCountIdentificationFromZeroAndCrcCoversIt() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 4200)) {
      /*
       * The host's kernel segments trains before they reach the link. So the gateway, which
       * receives here, sees the packets as they are on the wire.
       */
      fabrics.runAt(HOST_A, List.of("ip", "link", "set", "e1", "gso_max_segs", "1"));
      List<Integer> seen = new ArrayList<>();
      on(fabrics, 0, () -> listen(seen, () -> on(fabrics, HOST_A, () -> sendPackets(fabrics))));
      assertEquals(List.of(0, 0, 0, 1, 2, 3, 4, 0, 1, 2), seen);
    }
  }

  private static void sendPackets(TwoFabrics fabrics) {
    try (FabricHost host =
        new FabricHost(
            HOST_A, "e1", fabrics.address(HOST_A, true), fabrics.address(HOST_A, false))) {
      host.send(GROUP, 0, 1, 200);
      host.send(GROUP, 0, 2, 200);
      host.sendTrain(GROUP, 0, 3, 5, 200);
      host.sendTrain(GROUP, 0, 8, 3, 64);
    }
  }

  private static void on(TwoFabrics fabrics, int host, Runnable what) {
    NetworkNamespace.call(fabrics.namespace(host), Executors.callable(what));
  }

  /* Records the identifications of ten packets. */
  private static void listen(List<Integer> seen, Runnable thenSpeak) {
    int fd = LinuxCalls.socket(AF_PACKET, SOCK_DGRAM_NONBLOCK, ETH_P_IP_NETWORK_ORDER);
    try (Arena arena = Arena.ofConfined()) {
      long buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
      thenSpeak.run();
      Deadline deadline = Deadline.ofSeconds(20);
      while (seen.size() < 10) {
        assertFalse(deadline.isOver(), () -> "seen: " + seen);
        long length = LinuxCalls.recv(LinuxCalls.errnoCapture(), fd, buffer, BUFFER_BYTES, 0);
        if (length < 0) {
          LockSupport.parkNanos(1_000_000);
        } else if (length > 28 && Memory.ALL.get(Memory.NETWORK_SHORT, buffer + 22) == 4791) {
          seen.add(identification(Memory.toArray(buffer, (int) length)));
        }
      }
    } finally {
      LinuxCalls.close(fd);
    }
  }

  /*
   * Returns a packet's identification. Checks the CRC over the whole masked packet with its actual
   * IP header.
   */
  private static int identification(byte[] ip) {
    int length = (ip[2] & 0xff) << 8 | ip[3] & 0xff;
    byte[] masked = java.util.Arrays.copyOf(ip, length - 4);
    for (int at : new int[] {1, 8, 10, 11, 26, 27, 32}) {
      masked[at] = -1;
    }
    CRC32 crc = new CRC32();
    crc.update(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1});
    crc.update(masked);
    int stored = 0;
    for (int i = 0; i < 4; i++) {
      stored |= (ip[length - 4 + i] & 0xff) << 8 * i;
    }
    assertEquals((int) crc.getValue(), stored, "the invariant CRC of a packet on the wire");
    return (ip[4] & 0xff) << 8 | ip[5] & 0xff;
  }
}
