package io.heddle.transport.data;

import io.heddle.reorder.ReorderWindow;
import io.heddle.verbs.SendWorkRequest;
import java.util.BitSet;

/**
 * Writer of the clear-to-send entries of open groups (a group is the receives of one irecv) into
 * the sender's ring. Each group's entries are written by one RDMA WRITE. The writer uses the
 * sub-flow on which data came last, if that has room, and else the planes in turn. Entries that a
 * plane may have lost are written again. Owned by the holder of the receiver's {@link Baton}.
 *
 * <p>At most one write of a slot is outstanding, and the slot's next group is opened only once that
 * write is acknowledged. Otherwise a repeated write could arrive late over a slow plane and
 * overwrite a later group's entries in the sender's ring.
 */
final class ClearToSendWriter {
  private static final int GROUPS = ClearToSend.GROUPS;

  private final ConnectionParts parts;
  private final ReorderWindow window;
  private final SubFlow[] flows;

  private final ReturnFlow returnFlow;
  private final FlowsToPost filled;

  /* Next group whose entries are to be written for the first time. */
  private long next;

  /*
   * State of each slot: index of the sub-flow that last wrote its entries, whether that write is
   * outstanding, and whether the entries must be written again.
   */
  private final byte[] writer = new byte[GROUPS];
  private final boolean[] outstanding = new boolean[GROUPS];
  private final BitSet lost = new BitSet(GROUPS);
  private int lostCount;
  private long repeated;

  ClearToSendWriter(
      ConnectionParts parts, ReorderWindow window, SubFlow[] flows, CommFailure failure) {
    this.parts = parts;
    this.window = window;
    this.flows = flows;
    returnFlow = new ReturnFlow(parts, flows);
    filled = new FlowsToPost(flows, failure);
  }

  /** Returns whether the window's next group may be opened. */
  boolean canOpenGroup() {
    return !outstanding[window.slotOf(window.nextGroup())];
  }

  /** Returns whether a group's entries are to be written. */
  boolean isBehind() {
    return next != window.nextGroup() || lostCount != 0;
  }

  /** Writes entries while planes have room. */
  void post() {
    while (lostCount != 0 && post(firstLost())) {
      clearLost(window.slotOf(firstLost()));
    }
    while (next != window.nextGroup() && post(next)) {
      next++;
    }
    filled.post(parts.device().clock().nanoTime());
  }

  /* Returns the open group in the first slot whose entries are to be written again. */
  private long firstLost() {
    long oldest = window.oldestGroup();
    return oldest + (lost.nextSetBit(0) - window.slotOf(oldest) & GROUPS - 1);
  }

  private void clearLost(int slot) {
    if (lost.get(slot)) {
      lost.clear(slot);
      lostCount--;
    }
  }

  private boolean post(long group) {
    SubFlow flow = returnFlow.withRoom();
    if (flow == null) {
      return false;
    }
    filled.add(flow);
    int slot = window.slotOf(group);
    long offset = ClearToSend.groupOffset(group);
    SendWorkRequest wr = flow.add();
    wr.id = flow.id(slot, 0, 0);
    wr.operation = SendWorkRequest.Operation.RDMA_WRITE;
    wr.localAddress = parts.memory().ringAddress() + offset;
    wr.lengthBytes = window.receives(slot) * ClearToSend.BYTES;
    wr.lkey = parts.memory().ringLocalKey();
    wr.inline = wr.lengthBytes <= flow.inlineBytes;
    wr.remoteAddress = parts.peersRing().address() + offset;
    wr.rkey = parts.peersRing().key();
    writer[slot] = (byte) flow.index;
    outstanding[slot] = true;
    return true;
  }

  /** Records that data arrived on this sub-flow. */
  void dataArrivedOn(SubFlow flow) {
    returnFlow.dataArrivedOn(flow);
  }

  /** Records the acknowledgement of the write with this id. */
  void acknowledged(long id) {
    outstanding[SubFlow.lineOf(id)] = false;
  }

  /** Records that the group in this slot is complete, so the sender has read its entries. */
  void released(int slot) {
    if (lostCount != 0) {
      clearLost(slot);
    }
  }

  /**
   * Handles a plane that is fenced at both ends: outstanding writes over it will never land, so
   * entries that the plane may have lost are written again.
   */
  void settle(int plane) {
    for (int slot = 0; slot < GROUPS; slot++) {
      if (flows[writer[slot]].plane == plane) {
        outstanding[slot] = false;
      }
    }
    for (long group = window.oldestGroup(); group != next; group++) {
      int slot = window.slotOf(group);
      if (flows[writer[slot]].plane == plane && !window.isFull(group) && !lost.get(slot)) {
        lost.set(slot);
        lostCount++;
        repeated++;
      }
    }
  }

  /** Returns how often entries had to be written again. */
  long repeated() {
    return repeated;
  }
}
