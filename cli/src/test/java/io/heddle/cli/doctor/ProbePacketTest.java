package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests of the probe packets. */
final class ProbePacketTest {
  private static final InetSocketAddress HERE = new InetSocketAddress("fd00::1", 1000);
  private static final InetSocketAddress THERE = new InetSocketAddress("fd00::2", ProbePacket.PORT);

  private static ProbePacket answer(String text) {
    return new ProbePacket(ProbePacket.ANSWER, 7, text, ProbePacket.SMALLEST_BYTES);
  }

  private static String planes(int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i -> "2001:db8:aaaa:bb%02x::/64=2001:db8:aaaa:bb%02x:5054:ff:fe12:3456".formatted(i, i))
        .collect(Collectors.joining(","));
  }

  private static String decoded(String text) {
    ProbePacket read = ProbePacket.decode(answer(text).encode(HERE, THERE), HERE, THERE);
    assertNotNull(read);
    assertEquals(7, read.number());
    return read.text();
  }

  @Test
  void smallestAnswerHoldsSixteenPlanesWithLongestAddresses() {
    assertEquals(planes(16), decoded(planes(16)));
  }

  @Test
  void answerKeepsTheFirstPlanesIfNotAllFit() {
    String fitting = decoded(planes(64));
    assertTrue(planes(64).startsWith(fitting + ","), fitting);
    assertTrue(fitting.length() >= planes(16).length(), fitting);
  }

  @Test
  void packetWithOneWrongBitIsRejected() {
    ByteBuffer packet = answer(planes(2)).encode(HERE, THERE);
    for (int bit = 0; bit < 8 * packet.remaining(); bit += 41) {
      packet.put(bit / 8, (byte) (packet.get(bit / 8) ^ 1 << bit % 8));
      assertNull(ProbePacket.decode(packet, HERE, THERE), "bit " + bit);
      packet.put(bit / 8, (byte) (packet.get(bit / 8) ^ 1 << bit % 8));
    }
    assertNotNull(ProbePacket.decode(packet, HERE, THERE));
  }
}
