package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class QueuePairRecordTest {
  @Test
  void fieldsAreHexadecimalEachFollowedByColon() throws Exception {
    QueuePairRecord record =
        new QueuePairRecord(
            0,
            1,
            0x11,
            0xabcdef,
            0x80001234,
            0x7f00_1234_5000L,
            Gid.of(InetAddress.getByName("fd00::5")));
    byte[] bytes = record.encode();
    assertEquals(108, bytes.length);
    assertEquals(
        "0000:0001:000011:abcdef:80001234:00007f0012345000:"
            + "fd:00:00:00:00:00:00:00:00:00:00:00:00:00:00:05:00000000:\0",
        new String(bytes, StandardCharsets.US_ASCII));
    assertEquals(record, QueuePairRecord.decode(bytes, "peer"));
  }

  @Test
  void bytesAfterNulAreIgnored() throws Exception {
    QueuePairRecord record =
        new QueuePairRecord(7, 16, 1, 2, 3, -1L, Gid.of(InetAddress.getByName("10.0.0.1")));
    byte[] shortFields =
        Arrays.copyOf(
            "7:10:1:2:3:ffffffffffffffff:0:0:0:0:0:0:0:0:0:0:ff:ff:a:0:0:1:0:\0#?!"
                .getBytes(StandardCharsets.US_ASCII),
            QueuePairRecord.BYTES);
    assertEquals(record, QueuePairRecord.decode(shortFields, "peer"));
  }

  @Test
  void garbageIsRefusedWithMessage() {
    Random random = new Random(7);
    byte[] bytes = new byte[QueuePairRecord.BYTES];
    for (int i = 0; i < 500; i++) {
      random.nextBytes(bytes);
      HeddleException refused =
          assertThrows(HeddleException.class, () -> QueuePairRecord.decode(bytes, "10.0.0.1"));
      assertTrue(refused.getMessage().startsWith("10.0.0.1 sent an invalid address record"));
    }
  }

  @Test
  void versionRecordReadsAsVersionUpToNul() {
    byte[] record = PerftestDialogue.versionRecord();
    assertEquals(16, record.length);
    assertArrayEquals("6.06\0".getBytes(StandardCharsets.US_ASCII), Arrays.copyOf(record, 5));
  }
}
