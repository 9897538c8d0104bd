package io.heddle.softdevice.queue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.responder.WriteBatchReceiver;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.softdevice.io.Bundle;
import io.heddle.softdevice.io.HeldPacket;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.TrainSink;
import io.heddle.verbs.QueuePairState;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Dispatcher of received packets: passes them through the gate, checks headers, source and
 * checksum, and hands each packet to its queue pair. Used under the progress lock.
 */
final class PacketDispatcher implements TrainSink {
  private final QueuePairTable queuePairs;
  private final PacketGate gate;
  private final Counters counters;
  private final WriteBatchReceiver batches;

  PacketDispatcher(Arena arena, QueuePairTable queuePairs, PacketGate gate, Counters counters) {
    this.queuePairs = queuePairs;
    this.gate = gate;
    this.counters = counters;
    batches = new WriteBatchReceiver(arena);
  }

  @Override
  public int onTrain(
      ByteBuffer view,
      long base,
      long address,
      int length,
      int stride,
      long high,
      long low,
      int port,
      long nowNs) {
    boolean inBatches = gate.isOpen() && WriteBatchReceiver.isEligible(stride);
    int packets = 0;
    for (int at = 0; at < length; ) {
      int batch =
          inBatches
              ? takeBatch(address + at, stride, (length - at) / stride, high, low, port, nowNs)
              : 0;
      if (batch > 0) {
        packets += batch;
        at += batch * stride;
        continue;
      }
      int bytes = Math.min(stride, length - at);
      packets++;
      if (gate.passes(view, base, address + at, bytes, high, low, port, nowNs)) {
        dispatch(view, base, address + at, bytes, high, low, port, nowNs);
      }
      at += stride;
    }
    if (length == 0) {
      counters.drops().count(DropCounters.Reason.TOO_SHORT);
    }
    return packets;
  }

  /*
   * Processes the next packets of a train together, if they are consecutive WRITEs
   * (WriteBatchReceiver). Returns their number; 0 if the next packet has to be processed singly.
   */
  private int takeBatch(
      long packet, int stride, int most, long high, long low, int port, long nowNs) {
    if (most == 0) {
      return 0;
    }
    SoftQueuePair qp = queuePairs.find(PacketFormat.queuePairOf(PacketFormat.networkLong(packet)));
    if (qp == null) {
      return 0;
    }
    int link = qp.links().linkOfSource(high, low, port);
    return link < 0 ? 0 : qp.onBatch(batches, packet, stride, most, link, nowNs);
  }

  /** Dispatches the gate's held packets that are due. Returns their number. */
  int releaseHeld(long nowNs) {
    int released = 0;
    for (HeldPacket held = gate.takeDue(nowNs); held != null; held = gate.takeDue(nowNs)) {
      dispatch(
          held.view,
          held.base,
          held.address,
          held.bytes,
          held.sourceHigh,
          held.sourceLow,
          held.sourcePort,
          nowNs);
      released++;
    }
    return released;
  }

  /** Checks a packet and hands it to its queue pair; opens a bundle. */
  void dispatch(
      ByteBuffer view,
      long base,
      long packet,
      int bytes,
      long sourceHigh,
      long sourceLow,
      int sourcePort,
      long nowNs) {
    DropCounters drops = counters.drops();
    if (bytes < PacketFormat.BTH_BYTES + PacketFormat.ICRC_BYTES) {
      drops.count(DropCounters.Reason.TOO_SHORT);
      return;
    }
    long firstWord = PacketFormat.networkLong(packet);
    int opcode = PacketFormat.opcodeOf(firstWord);
    int extended = PacketFormat.extendedHeaderBytes(opcode);
    if (extended < 0) {
      counters.unknown(opcode, firstWord);
      return;
    }
    int payloadBytes =
        bytes
            - PacketFormat.BTH_BYTES
            - extended
            - PacketFormat.ICRC_BYTES
            - PacketFormat.padOf(firstWord);
    if (payloadBytes < 0 || (bytes & 3) != 0) {
      drops.count(DropCounters.Reason.BAD_LENGTH);
      return;
    }
    if (!PacketFormat.isHeaderRight(firstWord)) {
      drops.countHeader(firstWord);
      return;
    }
    SoftQueuePair qp = queuePairs.find(PacketFormat.queuePairOf(firstWord));
    if (qp == null) {
      drops.count(DropCounters.Reason.UNKNOWN_QUEUE_PAIR);
      return;
    }
    QueuePairState state = qp.state();
    if (state == QueuePairState.RESET || state == QueuePairState.INIT) {
      drops.count(DropCounters.Reason.WRONG_STATE);
      return;
    }
    int link = qp.links().linkOfSource(sourceHigh, sourceLow, sourcePort);
    if (link < 0) {
      drops.count(DropCounters.Reason.WRONG_SOURCE);
      return;
    }
    if (opcode == PacketFormat.BUNDLE) {
      if (qp.links().get(link).isSoft()) {
        openBundle(view, base, packet, bytes, sourceHigh, sourceLow, nowNs);
      } else {
        drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
      }
      return;
    }
    if (PacketFormat.isMarked(firstWord)) {
      /* The sender computed the checksum with this byte as zero. */
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 4, (byte) 0);
    }
    if (!qp.links().get(link).isChecksumRight(view, base, packet, bytes, sourcePort)) {
      drops.count(DropCounters.Reason.BAD_CHECKSUM);
      return;
    }
    long payload = packet + PacketFormat.BTH_BYTES + extended;
    qp.onPacket(opcode, packet, payload, payloadBytes, link, nowNs);
  }

  private void openBundle(
      ByteBuffer view,
      long base,
      long bundle,
      int bytes,
      long sourceHigh,
      long sourceLow,
      long nowNs) {
    long end = bundle + bytes;
    int packets = 0;
    for (long at = bundle + PacketFormat.BTH_BYTES; at < end; ) {
      int entry = Bundle.readEntry(at, end, counters.drops());
      if (entry == Bundle.INVALID) {
        break;
      }
      long packet = at + Bundle.ENTRY_BYTES;
      int length = entry >>> 16;
      dispatch(view, base, packet, length, sourceHigh, sourceLow, entry & 0xffff, nowNs);
      packets++;
      at = packet + length;
    }
    /* The receiver has already counted the datagram as one packet. */
    counters.received(Math.max(0, packets - 1));
  }
}
