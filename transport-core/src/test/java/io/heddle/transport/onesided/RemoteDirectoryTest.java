package io.heddle.transport.onesided;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the times at which an initiator reads a peer's directory, with times given by the test.
 */
class RemoteDirectoryTest {
  private static final int NUMBER = 7;
  private static final long DIRECTORY = 1 << 20;
  private static final long BEGUN_NS = -3;

  private final Arena arena = Arena.ofConfined();
  private final long ring = Memory.allocate(arena, 1 << 16, 64);
  private final RemoteDirectory known = new RemoteDirectory(ring, 9);
  private final SendWorkRequest wr = new SendWorkRequest();

  @AfterEach
  void free() {
    arena.close();
  }

  private void miss(long nowNs) {
    assertTrue(known.canRead(NUMBER, nowNs));
    int place = known.prepareRead(NUMBER, wr);
    assertEquals(DIRECTORY + NUMBER * DirectoryEntry.BYTES, wr.remoteAddress);
    assertFalse(known.canRead(NUMBER, nowNs), "a read is pending");
    known.onRead(place, nowNs);
    assertFalse(known.isKnown(NUMBER));
  }

  @Test
  void nothingIsReadBeforeThePeerSendsTheAddress() {
    assertFalse(known.canRead(NUMBER, BEGUN_NS));
    PeerLine.write(ring, 0, DIRECTORY, 3);
    assertTrue(known.canRead(NUMBER, BEGUN_NS));
  }

  @Test
  void missingEntryIsReadAgainAfterAPause() {
    PeerLine.write(ring, 0, DIRECTORY, 3);
    miss(BEGUN_NS);
    assertFalse(known.canRead(NUMBER, BEGUN_NS + RemoteDirectory.PAUSE_NS - 1));
    assertFalse(known.canRead(NUMBER + 1, BEGUN_NS + RemoteDirectory.PAUSE_NS - 1));
    miss(BEGUN_NS + RemoteDirectory.PAUSE_NS);
    known.prepareRead(NUMBER, wr);
    DirectoryEntry.write(wr.localAddress, NUMBER, 4096, 100, 5);
    known.onRead(NUMBER, BEGUN_NS + 3 * RemoteDirectory.PAUSE_NS);
    assertTrue(known.isKnown(NUMBER));
    OneSidedOperation operation = new OneSidedOperation();
    operation.registration = NUMBER;
    operation.lengthBytes = 8;
    operation.offset = 92;
    assertNull(known.describeOutOfBounds(operation));
    operation.offset = 93;
    assertNotNull(known.describeOutOfBounds(operation));
    assertTrue(known.canRead(NUMBER + 1, BEGUN_NS + 3 * RemoteDirectory.PAUSE_NS));
  }

  @Test
  void entryMissingForSecondsIsReportedOnce() {
    PeerLine.write(ring, 0, DIRECTORY, 3);
    assertFalse(known.isNewlyOverdue(NUMBER, BEGUN_NS));
    miss(BEGUN_NS);
    miss(BEGUN_NS + RemoteDirectory.OVERDUE_NS - 1);
    assertFalse(known.isNewlyOverdue(NUMBER, BEGUN_NS + RemoteDirectory.OVERDUE_NS - 1));
    assertFalse(known.isNewlyOverdue(NUMBER + 1, BEGUN_NS + RemoteDirectory.OVERDUE_NS));
    assertTrue(known.isNewlyOverdue(NUMBER, BEGUN_NS + RemoteDirectory.OVERDUE_NS));
    miss(BEGUN_NS + 2 * RemoteDirectory.OVERDUE_NS);
    assertFalse(known.isNewlyOverdue(NUMBER, BEGUN_NS + 4 * RemoteDirectory.OVERDUE_NS));
  }
}
