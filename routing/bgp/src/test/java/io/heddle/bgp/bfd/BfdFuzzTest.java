package io.heddle.bgp.bfd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import java.util.Random;

/** Fuzz test: any bytes on port 3784 leave the session in a valid state with a next deadline. */
class BfdFuzzTest {
  private static final long HOUR_NS = 3_600_000_000_000L;

  @FuzzTest(maxDuration = "20s")
  void anyRunOfPacketsIsTakenOrDiscarded(byte[] bytes) {
    long[] nowNs = {0};
    BfdSession.Actions actions =
        new BfdSession.Actions() {
          @Override
          public void send(BfdPacket packet) {
            byte[] encoded = packet.encode();
            assertEquals(BfdPacket.BYTES, encoded.length);
          }

          @Override
          public void changed(boolean up, String why) {
            assertEquals(up, why.isEmpty());
          }
        };
    BfdSession session =
        new BfdSession(BfdOptions.DEFAULT, 7, () -> nowNs[0], new Random(1), actions);
    for (int at = 0; at < bytes.length; at += BfdPacket.BYTES) {
      byte[] one = Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + BfdPacket.BYTES));
      BfdPacket packet = BfdPacket.decode(one, one.length);
      if (packet != null) {
        session.received(packet);
      }
      assertTrue(session.nextDeadlineNs() >= 0);
      nowNs[0] += Math.min(HOUR_NS, session.nextDeadlineNs());
      session.tick();
    }
  }
}
