package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.status.PgmStatus;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Test of PGM senders across a bridge, and of the bridge's PGM counters. */
@EndsWithin(120)
@SystemTest
class PgmInNamespacesTest extends BridgedFabrics {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int SPM = 0;
  private static final int ODATA = 4;
  private static final int RDATA = 5;
  private static final int NAK = 8;
  private static final int PAYLOAD_BYTES = 64;
  private static final int SOURCE_PORT = 7500;
  private static final int DATA_PORT = 5563;
  private static final int ROW = 200;

  private long sent;

  @BeforeEach
  void setUp() {
    open(1500);
    start(config("\npgm = yes"));
  }

  private BridgeConfig config(String pgm) {
    return config(
        "interface = e1\naddress = 10.1.0.254,fd01::254",
        "interface = e2\naddress = 10.2.0.254,fd02::254",
        List.of("[group 239.1.1.1]" + pgm, "[group ff05::1:1]"));
  }

  private PgmStatus pgm() {
    PgmStatus pgm = status().groups().getFirst().pgm();
    assertNotNull(pgm);
    return pgm;
  }

  /**
   * Builds a packet by RFC 3208. It doesn't use the bridge's own class, so that a fault there is
   * found.
   */
  private static byte[] packet(int type, int id, int number, int lead) {
    boolean receiver = type == NAK;
    int dataBytes = type == ODATA || type == RDATA ? 30 : 0;
    ByteBuffer bytes = ByteBuffer.allocate(PAYLOAD_BYTES);
    bytes.putShort((short) (receiver ? DATA_PORT : SOURCE_PORT));
    bytes.putShort((short) (receiver ? SOURCE_PORT : DATA_PORT));
    bytes.put((byte) type).put((byte) 0).putShort((short) 0);
    bytes.putShort((short) 0).putInt(id).putShort((short) dataBytes);
    bytes.putInt(number);
    if (receiver) {
      bytes.putShort((short) 1).putShort((short) 0).putInt(0x0a01_0001);
      bytes.putShort((short) 1).putShort((short) 0).putInt(0xef01_0101);
    } else {
      bytes.putInt(number);
      bytes.putInt(lead);
      bytes.putShort((short) 1).putShort((short) 0).putInt(0x0a01_0001);
    }
    return bytes.array();
  }

  private void send(FabricHost host, Gid group, byte[] payload) {
    int length = host.build(host.packet(), group, 0, sent++, payload.length, 0);
    MemorySegment.copy(
        MemorySegment.ofArray(payload),
        0,
        Memory.ALL,
        host.packet() + DatagramFormat.HEADER_BYTES,
        payload.length);
    host.writeCrc(host.packet(), group, length - 4, 0);
    assertTrue(host.sendRaw(group, length, 0));
  }

  private void awaitForwarded(int group, int side, long packets) {
    await(() -> direction(group, side).forwarded() >= packets);
  }

  @Test
  void countsMissingNumbersAcrossWrap() {
    at(
        1,
        a -> {
          send(a, GROUP, packet(ODATA, 1, -2, 0));
          send(a, GROUP, packet(ODATA, 1, -1, 0));
          send(a, GROUP, packet(ODATA, 1, 0, 0));
          send(a, GROUP, packet(ODATA, 1, 4, 0));
          send(a, GROUP, packet(ODATA, 1, 2, 0));
          send(a, GROUP, packet(RDATA, 1, 3, 0));
          send(a, GROUP, packet(ODATA, 1, 4, 0));
          send(a, GROUP, packet(SPM, 1, 77, 6));
          byte[] none = packet(ODATA, 1, 5, 0);
          none[4] = 0x44;
          send(a, GROUP, none);
        });
    at(
        2,
        b -> {
          send(b, GROUP, packet(NAK, 1, 1, 0));
          send(b, GROUP, packet(ODATA, 2, 10, 0));
          send(b, GROUP, packet(ODATA, 2, 11, 0));
        });
    /* The counts include packets that aren't PGM, since they are still forwarded. */
    awaitForwarded(0, 0, 9);
    awaitForwarded(0, 1, 3);
    assertEquals(
        new PgmStatus.Direction(8, 1, 6, 1, 5, 1, 1, 3, 1, 0, 0, 0, 0, 0, 1, 0, 0),
        pgm().directions().getFirst(),
        "1, 5 and 6 are lost");
    assertEquals(
        new PgmStatus.Direction(3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0),
        pgm().directions().getLast());
    PgmStatus.Session worst = pgm().sessions().getFirst();
    assertEquals("000000000001.7500", worst.session());
    assertEquals("10.1.0.1", worst.source());
    assertEquals(6, worst.lead());
    assertEquals(3, worst.lost());
    assertEquals(1, worst.requests());
    assertEquals("b", pgm().sessions().getLast().from());
    String table = BridgeTable.of(status());
    assertTrue(
        table.contains(
            "239.1.1.1                a>b                6         1         5         1         1"
                + "         3         1         0  1, malformed 1\n"),
        table);
    assertTrue(table.contains("\n  000000000001.7500 "), table);
    String metrics = BridgeMetrics.of(status());
    assertTrue(
        metrics.contains(
            "\n# TYPE heddle_bridge_pgm_skipped_numbers_total counter\n"
                + "heddle_bridge_pgm_skipped_numbers_total"
                + "{bridge=\"test\",from=\"a\",group=\"239.1.1.1\",to=\"b\"} 5\n"),
        metrics);
  }

  @Test
  void reloadStartsAndStopsPgmParsing() {
    at(1, a -> send(a, GROUP, packet(ODATA, 1, 1, 0)));
    awaitForwarded(0, 0, 1);
    assertEquals(1, pgm().sessions().size());
    bridge.reload(config(""));
    assertEquals(null, status().groups().getFirst().pgm());
    at(1, a -> send(a, GROUP, packet(ODATA, 1, 2, 0)));
    awaitForwarded(0, 0, 2);
    bridge.reload(config("\npgm = yes"));
    assertEquals(List.of(), pgm().sessions());
    at(
        1,
        a -> {
          send(a, GROUP, packet(ODATA, 1, 500, 0));
          send(a, GROUP, packet(ODATA, 1, 502, 0));
        });
    awaitForwarded(0, 0, 4);
    assertEquals(1, pgm().sessions().getFirst().lost());
  }

  @Test
  void allocatesNothingPerPgmPacket() {
    LongSupplier allocatedBytes = dataThreadAllocation();
    at(
        1,
        a -> {
          long allocated = -1;
          Deadline deadline = Deadline.ofSeconds(60);
          for (int batch = 0; allocated != 0; batch++) {
            assertFalse(deadline.isOver(), "the last batch allocated " + allocated + " bytes");
            long before = allocatedBytes.getAsLong();
            for (int i = 0; i < ROW; i++) {
              /* Every second packet begins a new session, and the numbers have gaps. */
              send(a, GROUP, packet(ODATA, sessionOf(batch, i), 3 * i, 0));
            }
            awaitForwarded(0, 0, (batch + 1L) * ROW);
            allocated = allocatedBytes.getAsLong() - before;
          }
        });
    assertTrue(pgm().directions().getFirst().skipped() > 0);
  }

  /* Returns the session of a packet. Each session has two packets. */
  private static int sessionOf(int batch, int packet) {
    return batch * ROW + packet / 2;
  }
}
