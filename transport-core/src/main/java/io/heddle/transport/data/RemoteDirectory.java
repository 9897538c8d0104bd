package io.heddle.transport.data;

import io.heddle.verbs.SendWorkRequest;
import java.util.Arrays;

/**
 * What the initiator knows of the peer's registrations. An entry is read from the peer's directory
 * when it is needed first, and again while it isn't there: the peer may be about to register. Owned
 * by whoever has the {@link Baton}.
 */
final class RemoteDirectory {
  /* Where entries are read to, from the ring's beginning: behind the peer's line. */
  private static final long SCRATCH_AT = PeerLine.BYTES;
  private static final int SCRATCH = 32;

  /** Registrations that a group may ever have made. */
  static final int MOST = 1 << 16;

  private static final int NOBODY = -1;

  private final ConnectionMemory memory;
  private final int[] asked = new int[SCRATCH];
  private long[] address = {};
  private long[] lengthBytes = {};
  private int[] key = {};

  RemoteDirectory(ConnectionMemory memory) {
    this.memory = memory;
    Arrays.fill(asked, NOBODY);
  }

  boolean isKnown(int registration) {
    return registration < lengthBytes.length && lengthBytes[registration] > 0;
  }

  /** Whether the range lies within a known registration. */
  boolean covers(int registration, long offset, long bytes) {
    return offset >= 0 && bytes >= 0 && offset <= lengthBytes[registration] - bytes;
  }

  long address(int registration) {
    return address[registration];
  }

  int key(int registration) {
    return key[registration];
  }

  /** Whether the entry can be asked for now: the peer has told where, and nobody has asked. */
  boolean mayAsk(int registration) {
    return PeerLine.isThere(memory.ringAddress()) && asked[registration % SCRATCH] == NOBODY;
  }

  /**
   * Fills a request that reads the entry.
   *
   * @return which answer it is, for {@link #answered}
   */
  int ask(int registration, SendWorkRequest wr) {
    int place = registration % SCRATCH;
    asked[place] = registration;
    long line = memory.ringAddress();
    wr.operation = SendWorkRequest.Operation.RDMA_READ;
    wr.localAddress = scratch(place);
    wr.lengthBytes = DirectoryEntry.BYTES;
    wr.lkey = memory.ringLocalKey();
    wr.inline = false;
    wr.remoteAddress = PeerLine.directory(line) + (long) registration * DirectoryEntry.BYTES;
    wr.rkey = PeerLine.key(line);
    return place;
  }

  private long scratch(int place) {
    return memory.ringAddress() + SCRATCH_AT + (long) place * DirectoryEntry.BYTES;
  }

  /** An entry was read, whole or not. */
  void answered(int place) {
    int registration = asked[place];
    asked[place] = NOBODY;
    if (registration != NOBODY && DirectoryEntry.isOf(scratch(place), registration)) {
      if (registration >= lengthBytes.length) {
        int room = Math.max(16, Integer.highestOneBit(registration) << 1);
        address = Arrays.copyOf(address, room);
        lengthBytes = Arrays.copyOf(lengthBytes, room);
        key = Arrays.copyOf(key, room);
      }
      address[registration] = DirectoryEntry.address(scratch(place));
      lengthBytes[registration] = DirectoryEntry.lengthBytes(scratch(place));
      key[registration] = DirectoryEntry.key(scratch(place));
    }
  }

  /** Reads may have been lost with a plane; all are asked for again. */
  void forgetAsked() {
    Arrays.fill(asked, NOBODY);
  }
}
