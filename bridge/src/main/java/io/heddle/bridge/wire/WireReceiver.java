package io.heddle.bridge.wire;

import io.heddle.bridge.fabric.FabricSocket;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/**
 * Receiver of datagrams that GRO has merged to segment trains: several trains per call, with their
 * destinations and arrival times. Used by the data thread only.
 */
final class WireReceiver {
  private static final int TRAINS = 16;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HEADER_BYTES = 64;
  private static final int NAME_BYTES = 32;
  private static final int CONTROL_BYTES = 192;
  private static final int MSG_TRUNC = 0x20;

  private static final int SOL_SOCKET = 1;
  private static final int SO_TIMESTAMPNS = 35;
  private static final int SO_RXQ_OVFL = 40;
  private static final int SOL_IPV6 = 41;
  private static final int IPV6_PKTINFO = 50;
  private static final int SOL_UDP = 17;
  private static final int UDP_GRO = 104;
  private static final int CONTROL_HEADER_BYTES = 16;

  private final int fd;
  private final SystemClock clock;
  private final TrainBatch batch = new TrainBatch(TRAINS);
  private final long headers;
  private final long names;
  private final long controls;
  private final long buffers;
  /*
   * Number of message headers that the last receive has changed, and that the next one must
   * restore; initially all.
   */
  private int used = TRAINS;
  private final long counters;

  /**
   * @param counters address of the fabric's counters in the status file
   */
  WireReceiver(Arena arena, int fd, SystemClock clock, long counters) {
    this.counters = counters;
    this.fd = fd;
    this.clock = clock;
    headers = Memory.allocate(arena, (long) TRAINS * HEADER_BYTES, 64);
    long vectors = Memory.allocate(arena, TRAINS * 16L, 64);
    names = Memory.allocate(arena, (long) TRAINS * NAME_BYTES, 64);
    controls = Memory.allocate(arena, (long) TRAINS * CONTROL_BYTES, 64);
    buffers = Memory.allocate(arena, (long) TRAINS * BUFFER_BYTES, 4096);
    for (int i = 0; i < TRAINS; i++) {
      long header = headers + (long) i * HEADER_BYTES;
      long vector = vectors + i * 16L;
      Memory.setLong(vector, buffers + (long) i * BUFFER_BYTES);
      Memory.setLong(vector + 8, BUFFER_BYTES);
      Memory.setLong(header, names + (long) i * NAME_BYTES);
      Memory.setLong(header + 16, vector);
      Memory.setLong(header + 24, 1);
      Memory.setLong(header + 32, controls + (long) i * CONTROL_BYTES);
    }
  }

  TrainBatch batch() {
    return batch;
  }

  /** Returns the memory that contains the packets of each batch. */
  ByteBuffer area() {
    return Memory.ALL.asSlice(buffers, (long) TRAINS * BUFFER_BYTES).asByteBuffer();
  }

  long base() {
    return buffers;
  }

  /** Receives the next batch, and returns its number of trains, 0 for none. */
  int receive() {
    for (int i = 0; i < used; i++) {
      long header = headers + (long) i * HEADER_BYTES;
      Memory.setInt(header + 8, FabricSocket.NAME_BYTES);
      Memory.setLong(header + 40, CONTROL_BYTES);
    }
    int received = Math.max(0, SocketCalls.receive(fd, headers, TRAINS));
    used = received;
    int count = 0;
    for (int i = 0; i < received; i++) {
      if (take(i, count)) {
        count++;
      }
    }
    return count;
  }

  /*
   * Adds a received message to the batch; returns false if it contains no whole datagram.
   */
  private boolean take(int message, int train) {
    long header = headers + (long) message * HEADER_BYTES;
    int length = Memory.getInt(header + 56);
    if (length <= 0 || (Memory.getInt(header + 48) & MSG_TRUNC) != 0) {
      FabricCounter.EMPTY.add(counters, 1);
      return false;
    }
    long name = names + (long) message * NAME_BYTES;
    batch.address[train] = buffers + (long) message * BUFFER_BYTES;
    batch.lengthBytes[train] = length;
    batch.strideBytes[train] = length;
    batch.sourcePort[train] = Memory.ALL.get(Memory.NETWORK_SHORT, name + 2) & 0xffff;
    batch.sourceHigh[train] = Memory.ALL.get(Memory.NETWORK_LONG, name + 8);
    batch.sourceLow[train] = Memory.ALL.get(Memory.NETWORK_LONG, name + 16);
    batch.destinationHigh[train] = 0;
    batch.destinationLow[train] = 0;
    readControls(message, train, Memory.getLong(header + 40));
    FabricCounter.received(counters, batch.packets(train), length);
    return true;
  }

  private void readControls(int message, int train, long length) {
    long at = controls + (long) message * CONTROL_BYTES;
    long end = at + length;
    while (at + CONTROL_HEADER_BYTES <= end) {
      long bytes = Memory.getLong(at);
      if (bytes < CONTROL_HEADER_BYTES || at + bytes > end) {
        return;
      }
      readControl(train, Memory.getInt(at + 8), Memory.getInt(at + 12), at + CONTROL_HEADER_BYTES);
      at += bytes + 7 & ~7L;
    }
  }

  private void readControl(int train, int level, int type, long value) {
    if (level == SOL_IPV6 && type == IPV6_PKTINFO) {
      batch.destinationHigh[train] = Memory.ALL.get(Memory.NETWORK_LONG, value);
      batch.destinationLow[train] = Memory.ALL.get(Memory.NETWORK_LONG, value + 8);
    } else if (level == SOL_UDP && type == UDP_GRO) {
      int stride = Memory.getInt(value);
      if (stride > 0) {
        batch.strideBytes[train] = stride;
      }
    } else if (level == SOL_SOCKET && type == SO_TIMESTAMPNS) {
      long arrivedNs = clock.nanoTime(Memory.getLong(value), Memory.getLong(value + 8));
      batch.arrivedNs[train] = arrivedNs;
      batch.notBeforeNs[train] = arrivedNs;
    } else if (level == SOL_SOCKET && type == SO_RXQ_OVFL) {
      FabricCounter.KERNEL_QUEUE_FULL.set(counters, Memory.getInt(value) & 0xffff_ffffL);
    }
  }
}
