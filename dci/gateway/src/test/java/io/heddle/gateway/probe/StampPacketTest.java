package io.heddle.gateway.probe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

final class StampPacketTest {
  private static final HexFormat HEX = HexFormat.of();

  /* Packets made by hand from the figures in RFC 8762. 0xed003780 is 2026-01-01 in NTP seconds. */
  private static final String PROBE = "00000007" + "ed00378080000000" + "2001" + "00".repeat(30);
  private static final String ANSWER =
      "00000007"
          + "ed00378140000000"
          + "2001"
          + "0000"
          + "ed00378100000000"
          + "00000007"
          + "ed00378080000000"
          + "2001"
          + "0000"
          + "fe"
          + "000000";

  @Test
  void packetsMatchTheFigures() {
    long second = Instant.parse("2026-01-01T00:00:00Z").getEpochSecond();
    byte[] probe = StampPacket.probe(7, StampPacket.timestamp(second, 500_000_000));
    assertEquals(PROBE, HEX.formatHex(probe));
    byte[] answer =
        StampPacket.answer(
            ByteBuffer.wrap(probe),
            StampPacket.timestamp(second + 1, 0),
            StampPacket.timestamp(second + 1, 250_000_000),
            254);
    assertEquals(ANSWER, HEX.formatHex(answer));
    assertEquals(StampPacket.BYTES, answer.length);
  }

  @Test
  void answerHasTheProbesNumberAndTheReflectorsTime() {
    ByteBuffer answer = ByteBuffer.wrap(HEX.parseHex(ANSWER));
    assertEquals(7, StampPacket.sequence(answer));
    assertEquals(250_000_000, StampPacket.reflectorNs(answer));
  }

  @Test
  void longerProbeIsAnsweredByItsFirstBytes() {
    byte[] longer = HEX.parseHex(PROBE + "ff".repeat(20));
    byte[] answer = StampPacket.answer(ByteBuffer.wrap(longer), 0, 0, 1);
    assertArrayEquals(HEX.parseHex("00000007"), java.util.Arrays.copyOf(answer, 4));
  }

  @Test
  void timeIsNegativeAfterAClockStepBack() {
    long second = StampPacket.timestamp(1_000, 0);
    assertEquals(-250_000_000, StampPacket.nanosBetween(second, second - (1L << 30)));
  }
}
