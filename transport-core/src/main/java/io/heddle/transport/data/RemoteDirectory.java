package io.heddle.transport.data;

import io.heddle.verbs.SendWorkRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the initiator knows of the peer's registrations. An entry is read from the peer's directory
 * when it is needed first, and again after a pause while it isn't there: the peer may be about to
 * register. Owned by whoever has the {@link Baton}.
 */
final class RemoteDirectory {
  /** Between two looks for what isn't there. */
  static final long PAUSE_NS = 1_000_000;

  /** How long all ranks may take until each has made a registration that one of them uses. */
  static final long OVERDUE_NS = 5_000_000_000L;

  /* Where entries are read to, from the ring's beginning: behind the peer's line. */
  private static final long SCRATCH_AT = PeerLine.BYTES;
  private static final int SCRATCH = 32;

  private static final int NOBODY = -1;

  /** Of a registration that was looked for and wasn't there, or hasn't been missed. */
  private enum Missed {
    NEVER,
    SINCE,
    REPORTED
  }

  private final long ring;
  private final int ringKey;
  private final int[] asked = new int[SCRATCH];
  private long[] address = {};
  private long[] lengthBytes = {};
  private int[] key = {};
  private Missed[] missed = {};
  private long[] missedSinceNs = {};
  private boolean pauses;
  private long pausesSinceNs;

  /**
   * @param ring the address of this end's, where the peer's line is
   * @param ringKey by which the device writes to it
   */
  RemoteDirectory(long ring, int ringKey) {
    this.ring = ring;
    this.ringKey = ringKey;
    Arrays.fill(asked, NOBODY);
  }

  boolean isKnown(int registration) {
    return registration < lengthBytes.length && lengthBytes[registration] > 0;
  }

  /** What of an operation isn't the peer's memory, all of which is known; null where all is. */
  @Nullable String outside(OneSidedOperation operation) {
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
   * Whether the entry can be asked for now: the peer has told where, nobody has asked, and what was
   * asked for last was there or some time has passed.
   */
  boolean mayAsk(int registration, long nowNs) {
    return PeerLine.isThere(ring)
        && asked[registration % SCRATCH] == NOBODY
        && !(pauses && nowNs - pausesSinceNs < PAUSE_NS);
  }

  /**
   * Fills a request that reads the entry.
   *
   * @return which answer it is, for {@link #answered}
   */
  int ask(int registration, SendWorkRequest wr) {
    int place = registration % SCRATCH;
    asked[place] = registration;
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

  /** An entry was read, whole or not. */
  void answered(int place, long nowNs) {
    int registration = asked[place];
    asked[place] = NOBODY;
    if (registration == NOBODY) {
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

  /** Whether the peer has lacked this registration for too long; true once. */
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

  /** Reads may have been lost with a plane; all are asked for again. */
  void forgetAsked() {
    Arrays.fill(asked, NOBODY);
  }
}
