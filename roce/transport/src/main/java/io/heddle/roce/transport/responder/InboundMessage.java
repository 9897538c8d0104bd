package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * Receiver of multi-packet messages, FIRST to LAST: SENDs, and WRITEs from a standard peer. Only
 * packets in order are passed to it. Used under the progress lock.
 */
final class InboundMessage {
  private static final int NONE = 0;
  private static final int WRITE = 1;
  private static final int SEND = 2;

  private final QueuePairEvents events;
  private final MemoryRights rights;
  private final ReceiveQueue receives;
  private int mtu;
  private int notReady;

  /* Type of the incomplete message, whose LAST packet is missing. */
  private int message = NONE;
  private long writeAddress;
  private int writeLeft;
  private int writeKey;
  private int messageBytes;

  InboundMessage(QueuePairEvents events, MemoryRights rights, ReceiveQueue receives) {
    this.events = events;
    this.rights = rights;
    this.receives = receives;
  }

  /**
   * @param notReadySyndrome syndrome of the answer if no receive is posted
   */
  void start(int mtuBytes, int notReadySyndrome) {
    mtu = mtuBytes;
    notReady = notReadySyndrome;
    message = NONE;
  }

  void stop() {
    message = NONE;
  }

  boolean isInProgress() {
    return message != NONE;
  }

  /** Executes the expected packet; returns 0, or the syndrome of the NAK. */
  int execute(int opcode, long packet, long payload, int payloadBytes) {
    return switch (opcode) {
      case PacketFormat.WRITE_FIRST -> executeWriteFirst(packet, payload, payloadBytes);
      case PacketFormat.WRITE_MIDDLE,
          PacketFormat.WRITE_LAST,
          PacketFormat.WRITE_LAST_WITH_IMMEDIATE ->
          executeWriteNext(opcode, packet, payload, payloadBytes);
      default -> executeSend(opcode, packet, payload, payloadBytes);
    };
  }

  private int executeWriteFirst(long packet, long payload, int payloadBytes) {
    long reth = packet + PacketFormat.BTH_BYTES;
    int length = PacketFormat.networkInt(reth + 12);
    if (message != NONE || payloadBytes != mtu || length <= mtu) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    long address = PacketFormat.networkLong(reth);
    int key = PacketFormat.networkInt(reth + 8);
    if (!rights.remoteWrite(key, address, length)) {
      return PacketFormat.SYNDROME_REMOTE_ACCESS;
    }
    message = WRITE;
    messageBytes = length;
    writeAddress = address;
    writeLeft = length;
    writeKey = key;
    placeOfWrite(payload, payloadBytes);
    return 0;
  }

  private int executeWriteNext(int opcode, long packet, long payload, int payloadBytes) {
    boolean last = opcode != PacketFormat.WRITE_MIDDLE;
    boolean immediate = opcode == PacketFormat.WRITE_LAST_WITH_IMMEDIATE;
    if (message != WRITE
        || (last ? payloadBytes != writeLeft || payloadBytes > mtu : payloadBytes != mtu)
        || !last && payloadBytes >= writeLeft) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    /* Rights are checked again for each packet: the region may have been closed meanwhile. */
    if (!rights.remoteWrite(writeKey, writeAddress, writeLeft)) {
      return PacketFormat.SYNDROME_REMOTE_ACCESS;
    }
    if (immediate && receives.isEmpty()) {
      return notReady;
    }
    placeOfWrite(payload, payloadBytes);
    if (last) {
      message = NONE;
    }
    if (immediate) {
      completeImmediate(messageBytes, PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES));
    }
    return 0;
  }

  private void placeOfWrite(long payload, int payloadBytes) {
    Memory.copyForPolling(payload, writeAddress, payloadBytes);
    writeAddress += payloadBytes;
    writeLeft -= payloadBytes;
  }

  private int executeSend(int opcode, long packet, long payload, int payloadBytes) {
    boolean starts =
        opcode == PacketFormat.SEND_FIRST
            || opcode == PacketFormat.SEND_ONLY
            || opcode == PacketFormat.SEND_ONLY_WITH_IMMEDIATE;
    boolean ends = opcode != PacketFormat.SEND_FIRST && opcode != PacketFormat.SEND_MIDDLE;
    if (message != (starts ? NONE : SEND) || (ends ? payloadBytes > mtu : payloadBytes != mtu)) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (receives.isEmpty()) {
      return notReady;
    }
    int before = starts ? 0 : messageBytes;
    if (before + payloadBytes > receives.lengthBytes()) {
      completeReceive(Status.LOCAL_LENGTH_ERROR, 0, false, 0);
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (payloadBytes > 0) {
      if (!rights.localWrite(receives.lkey(), receives.address() + before, payloadBytes)) {
        completeReceive(Status.LOCAL_PROTECTION_ERROR, 0, false, 0);
        return PacketFormat.SYNDROME_REMOTE_OPERATION;
      }
      Memory.copy(payload, receives.address() + before, payloadBytes);
    }
    messageBytes = before + payloadBytes;
    message = ends ? NONE : SEND;
    if (ends) {
      boolean immediate = PacketFormat.hasImmediate(opcode);
      int value = immediate ? PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES) : 0;
      completeReceive(Status.SUCCESS, messageBytes, immediate, value);
    }
    return 0;
  }

  /*
   * The receive is removed first: a completion that overruns its completion queue flushes the
   * remaining receives before the call returns.
   */
  private void completeReceive(Status status, int lengthBytes, boolean hasImmediate, int value) {
    long id = receives.id();
    receives.take();
    events.completeReceive(id, status, Kind.RECEIVE, lengthBytes, hasImmediate, value);
  }

  /** Completes the oldest receive with an immediate. */
  void completeImmediate(int lengthBytes, int immediate) {
    long id = receives.id();
    receives.take();
    events.completeReceive(
        id, Status.SUCCESS, Kind.RECEIVE_RDMA_WITH_IMMEDIATE, lengthBytes, true, immediate);
  }
}
