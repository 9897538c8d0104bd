package io.heddle.roce.transport.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.PsnBits;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests loss detection from a bitmap of later arrivals. */
class LossDetectorTest {
  private final Arena arena = Arena.ofConfined();
  private final TransmitRing ring =
      new TransmitRing(
          Memory.allocate(arena, TransmitRing.AREA_BYTES, 4096),
          new LargeTrains(),
          new RingShares());
  private final Outstanding outstanding = new Outstanding(ring);
  private final SendTags tags = new SendTags();
  private final LinkScheduler loads =
      new LinkScheduler(
          outstanding,
          new PendingRead(
              new MemoryRights(new RegionTable(1), 1),
              new SendQueue(1, Memory.allocate(arena, SendQueue.bytes(1), 64))));
  private final LossDetector lossDetector = new LossDetector(outstanding, ring, loads, tags);

  @BeforeEach
  void start() {
    outstanding.start(64, 1);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  /* Sends a train; returns the sequence number of its first packet. */
  private long sent(int packets, boolean isBundled) {
    long first = outstanding.next();
    ring.nextAddress();
    ring.add(first, packets, packets, 100, 100 * packets);
    long slot = ring.tail() - 1;
    ring.recordSent(slot, 0, 1, 1);
    if (isBundled) {
      ring.markBundled(slot);
    }
    outstanding.sentTo(first + packets, 0);
    return first;
  }

  /*
   * Acknowledges {@code packets} sequence numbers from {@code from} on by a bitmap. Returns the
   * count of packets that are marked as lost.
   */
  private int arrived(long from, int packets) {
    long word = Memory.allocate(arena, 8, 8);
    Memory.ALL.set(Memory.NETWORK_LONG, word, PsnBits.mask(from, from + packets));
    outstanding.acknowledgeBitmap(outstanding.unacknowledged(), word, 1);
    lossDetector.detectLosses(2);
    return outstanding.lostCount();
  }

  @Test
  void packetOvertakenOnItsSocketIsLost() {
    long missing = sent(1, false);
    long later = sent(8, false);
    assertEquals(1, arrived(later, 8));
    assertTrue(outstanding.isLost(missing));
  }

  @Test
  void bundledPacketIsOnlyLateBehindOwnSocketsPackets() {
    long bundled = sent(1, true);
    long later = sent(8, false);
    assertEquals(0, arrived(later, 8));
    assertFalse(outstanding.isLost(bundled));
  }

  @Test
  void ownSocketsTrainIsOnlyLateBehindBundledPackets() {
    sent(8, false);
    long bundled = sent(4, true);
    assertEquals(0, arrived(bundled, 4));
  }

  @Test
  void bundledPacketOvertakenByBundledPacketsIsLost() {
    long missing = sent(1, true);
    long later = sent(4, true);
    assertEquals(1, arrived(later, 4));
    assertTrue(outstanding.isLost(missing));
  }
}
