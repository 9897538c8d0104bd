package io.heddle.transport.onesided;

import io.heddle.verbs.SendWorkRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Initiator's cache of the peer's registrations. An entry is read from the peer's directory at its
 * first use. A missing entry is read again after a pause, since the peer may be about to register.
 * Owned by the holder of the {@link io.heddle.transport.data.Baton}.
 */
final class RemoteDirectory {
  /** Pause between two reads of a missing entry. */
  static final long PAUSE_NS = 1_000_000;

  /**
   * Time for which a peer may lack a registration that this rank uses; then the group reports it.
   */
  static final long OVERDUE_NS = 5_000_000_000L;

  /* Offset in the ring of the memory that entries are read to, after the peer's line. */
  private static final long SCRATCH_AT = PeerLine.BYTES;
  private static final int SCRATCH = 32;

  private static final int NO_READ = -1;

  /**
   * State of a registration that the peer may lack: never missed, missed since a time, or reported
   * as overdue.
   */
  private enum Missed {
    NEVER,
    SINCE,
    REPORTED
  }

  private final long ring;
  private final int ringKey;
  private final int[] reading = new int[SCRATCH];
  private long[] address = {};
  private long[] lengthBytes = {};
  private int[] key = {};
  private Missed[] missed = {};
  private long[] missedSinceNs = {};
  private boolean pauses;
  private long pausesSinceNs;

  /**
   * @param ring address of this end's ring, which begins with the peer's line
   * @param ringKey local key of the ring
   */
  RemoteDirectory(long ring, int ringKey) {
    this.ring = ring;
    this.ringKey = ringKey;
    Arrays.fill(reading, NO_READ);
  }

  boolean isKnown(int registration) {
    return registration < lengthBytes.length && lengthBytes[registration] > 0;
  }

  /**
   * Returns a sentence about the part of an operation that lies outside the peer's memory; null
   * where there is none. All directory entries that the operation uses must be known.
   */
  @Nullable String describeOutOfBounds(OneSidedOperation operation) {
    int memory = operation.registration;
    int word = operation.signalRegistration;
    if (operation.lengthBytes > 0 && !covers(memory, operation.offset, operation.lengthBytes)) {
      return "%s bytes at %s aren't within the %s bytes of its registration %s"
          .formatted(operation.lengthBytes, operation.offset, lengthBytes[memory], memory);
    }
    if (operation.signal != OneSidedOperation.Signal.NONE
        && !covers(word, operation.signalOffset, Long.BYTES)) {
      return "its signal's word at %s isn't within the %s bytes of its registration %s"
          .formatted(operation.signalOffset, lengthBytes[word], word);
    }
    return null;
  }

  private boolean covers(int registration, long offset, long bytes) {
    return offset >= 0 && bytes >= 0 && offset <= lengthBytes[registration] - bytes;
  }

  long address(int registration) {
    return address[registration];
  }

  int key(int registration) {
    return key[registration];
  }

  /**
   * Returns whether the entry may be read now. The address of the peer's directory must be known,
   * and the entry's place in this end's memory must not be in use by another read. After a read of
   * a missing entry, the pause must be over.
   */
  boolean canRead(int registration, long nowNs) {
    return PeerLine.isWritten(ring)
        && reading[registration % SCRATCH] == NO_READ
        && !(pauses && nowNs - pausesSinceNs < PAUSE_NS);
  }

  /**
   * Fills a request that reads the entry.
   *
   * @return the number of the read, for {@link #onRead}
   */
  int prepareRead(int registration, SendWorkRequest wr) {
    int place = registration % SCRATCH;
    reading[place] = registration;
    pauses = false;
    wr.operation = SendWorkRequest.Operation.RDMA_READ;
    wr.localAddress = scratch(place);
    wr.lengthBytes = DirectoryEntry.BYTES;
    wr.lkey = ringKey;
    wr.inline = false;
    wr.remoteAddress = PeerLine.directory(ring) + (long) registration * DirectoryEntry.BYTES;
    wr.rkey = PeerLine.key(ring);
    return place;
  }

  private long scratch(int place) {
    return ring + SCRATCH_AT + (long) place * DirectoryEntry.BYTES;
  }

  /** Handles an entry that was read, valid or not. */
  void onRead(int place, long nowNs) {
    int registration = reading[place];
    reading[place] = NO_READ;
    if (registration == NO_READ) {
      return;
    }
    makeRoom(registration);
    if (DirectoryEntry.isOf(scratch(place), registration)) {
      address[registration] = DirectoryEntry.address(scratch(place));
      lengthBytes[registration] = DirectoryEntry.lengthBytes(scratch(place));
      key[registration] = DirectoryEntry.key(scratch(place));
      return;
    }
    pauses = true;
    pausesSinceNs = nowNs;
    if (missed[registration] == Missed.NEVER) {
      missed[registration] = Missed.SINCE;
      missedSinceNs[registration] = nowNs;
    }
  }

  private void makeRoom(int registration) {
    int before = missed.length;
    if (registration >= before) {
      int room = Math.max(16, Integer.highestOneBit(registration) << 1);
      address = Arrays.copyOf(address, room);
      lengthBytes = Arrays.copyOf(lengthBytes, room);
      key = Arrays.copyOf(key, room);
      missedSinceNs = Arrays.copyOf(missedSinceNs, room);
      missed = Arrays.copyOf(missed, room);
      Arrays.fill(missed, before, room, Missed.NEVER);
    }
  }

  /**
   * Returns whether the peer has lacked this registration for too long; true only at the first such
   * call.
   */
  boolean isNewlyOverdue(int registration, long nowNs) {
    boolean overdue =
        registration < missed.length
            && missed[registration] == Missed.SINCE
            && nowNs - missedSinceNs[registration] >= OVERDUE_NS;
    if (overdue) {
      missed[registration] = Missed.REPORTED;
    }
    return overdue;
  }

  /** Forgets pending reads, which may have been lost with a plane; their entries are read again. */
  void forgetReads() {
    Arrays.fill(reading, NO_READ);
  }
}
