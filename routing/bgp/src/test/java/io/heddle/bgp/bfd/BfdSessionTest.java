package io.heddle.bgp.bfd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of the session rules of RFC 5880 with a simulated clock. */
class BfdSessionTest {
  private static final long MS = 1_000_000L;

  private long nowNs = 5;
  private final End a = new End(1, new BfdOptions(100, 3));
  private final End b = new End(2, new BfdOptions(50, 4));
  private boolean cut;

  /** One end of the link; its packets arrive at once, unless the link is cut. */
  private final class End implements BfdSession.Actions {
    final List<String> heard = new ArrayList<>();
    final List<BfdPacket> sent = new ArrayList<>();
    final BfdSession session;

    End(int discriminator, BfdOptions options) {
      session = new BfdSession(options, discriminator, () -> nowNs, new Random(7), this);
    }

    @Override
    public void send(BfdPacket packet) {
      sent.add(packet);
      byte[] bytes = packet.encode();
      assertEquals(packet, BfdPacket.decode(bytes, bytes.length));
      if (!cut) {
        (this == a ? b : a).session.received(packet);
      }
    }

    @Override
    public void changed(boolean up, String why) {
      heard.add(up ? "up" : "down: " + why);
    }
  }

  private void advance(long ms) {
    for (long end = nowNs + ms * MS; nowNs < end; ) {
      long next = Math.min(a.session.nextDeadlineNs(), b.session.nextDeadlineNs());
      nowNs += Math.min(end - nowNs, Math.max(1, next));
      a.session.tick();
      b.session.tick();
    }
  }

  @Test
  void bothEndsComeUpAndStayUp() {
    advance(3_000);
    assertEquals(List.of("up"), a.heard);
    assertEquals(List.of("up"), b.heard);
    advance(60_000);
    assertEquals(BfdState.UP, a.session.state());
    assertEquals(List.of("up"), b.heard);
  }

  @Test
  void speaksAtTheSlowerOfBothRatesWithJitter() {
    advance(3_000);
    a.sent.clear();
    b.sent.clear();
    advance(10_000);
    assertTrue(a.sent.size() >= 100 && a.sent.size() <= 134, "a sent " + a.sent.size());
    assertTrue(b.sent.size() >= 100 && b.sent.size() <= 134, "b sent " + b.sent.size());
  }

  @Test
  void silenceIsReportedWithinTheDetectionTime() {
    advance(3_000);
    assertEquals(400 * MS, a.session.detectionNs(), "the peer's 4 packets at our 100 ms");
    cut = true;
    advance(401);
    assertEquals("down: BFD received nothing for 400 ms, 4 packets", a.heard.getLast());
    cut = false;
    advance(5_000);
    assertEquals("up", a.heard.getLast());
    assertEquals("up", b.heard.getLast());
  }

  @Test
  void adminDownIsNoPathFailure() {
    advance(3_000);
    b.session.stop();
    advance(1);
    assertEquals(List.of("up"), a.heard);
    assertEquals(BfdState.DOWN, a.session.state());
  }

  @Test
  void packetFieldsAreDecoded() {
    byte[] raw =
        HexFormat.of()
            .parseHex("20400318" + "00000001" + "00000000" + "000f4240" + "0000c350" + "00000000");
    BfdPacket packet = BfdPacket.decode(raw, raw.length);
    assertNotNull(packet);
    assertEquals(new BfdPacket(0, BfdState.DOWN, false, false, 3, 1, 0, 1_000_000, 50_000), packet);
  }

  @Test
  void invalidPacketsAreDiscarded() {
    byte[] good = new BfdPacket(0, BfdState.UP, false, false, 3, 1, 2, 9, 9).encode();
    assertNotNull(BfdPacket.decode(good, good.length));
    assertNull(BfdPacket.decode(good, 23));
    int[][] faults = {{0, 0x40}, {1, 0xc4}, {1, 0xc1}, {2, 0}, {3, 23}, {3, 25}, {7, 0}, {11, 0}};
    for (int[] fault : faults) {
      byte[] bad = good.clone();
      bad[fault[0]] = (byte) fault[1];
      assertNull(BfdPacket.decode(bad, bad.length), "byte " + fault[0]);
    }
    assertFalse(BfdPacket.decode(good, good.length).isPoll());
  }
}
