package io.heddle.transport.data;

import io.heddle.reorder.ReorderWindow;
import io.heddle.verbs.SendWorkRequest;
import java.util.BitSet;

/**
 * Writes the clear-to-send entries of open groups into the sender's ring, each group by one RDMA
 * WRITE over the sub-flow that data came on last, where it has room, else planes in turn; and again
 * where a plane may have lost them. Owned by whoever has the receiver's {@link Baton}.
 *
 * <p>Of one slot at most one write is outstanding: its next group is opened only then. Else a write
 * that was repeated, and came late over a slow plane, would overwrite the entries of a later group
 * in the sender's ring.
 */
final class ClearToSendWriter {
  private static final int GROUPS = ClearToSend.GROUPS;

  private final ConnectionParts path;
  private final ReorderWindow window;
  private final SubFlow[] flows;

  private final ReturnFlow returnFlow;
  private final FilledFlows filled;

  /* Next group whose entries are to be written first. */
  private long next;

  /* By slot. */
  private final byte[] writer = new byte[GROUPS];
  private final boolean[] outstanding = new boolean[GROUPS];
  private final BitSet lost = new BitSet(GROUPS);
  private int lostCount;
  private long repeated;

  ClearToSendWriter(
      ConnectionParts path, ReorderWindow window, SubFlow[] flows, CommFailure failure) {
    this.path = path;
    this.window = window;
    this.flows = flows;
    returnFlow = new ReturnFlow(path, flows);
    filled = new FilledFlows(flows, failure);
  }

  /** Whether the window's next group may be opened. */
  boolean mayOpen() {
    return !outstanding[window.slotOf(window.nextGroup())];
  }

  /** Whether some group's entries are to be written. */
  boolean isBehind() {
    return next != window.nextGroup() || lostCount != 0;
  }

  /** Writes what the planes take. */
  void post() {
    while (lostCount != 0 && post(firstLost())) {
      found(window.slotOf(firstLost()));
    }
    while (next != window.nextGroup() && post(next)) {
      next++;
    }
    filled.post(path.device().clock().nanoTime());
  }

  /* The open group in the first slot whose entries are to be written again. */
  private long firstLost() {
    long oldest = window.oldestGroup();
    return oldest + (lost.nextSetBit(0) - window.slotOf(oldest) & GROUPS - 1);
  }

  private void found(int slot) {
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
    wr.localAddress = path.memory().ringAddress() + offset;
    wr.lengthBytes = window.receives(slot) * ClearToSend.BYTES;
    wr.lkey = path.memory().ringLocalKey();
    wr.inline = wr.lengthBytes <= flow.inlineBytes;
    wr.remoteAddress = path.peersRing().address() + offset;
    wr.rkey = path.peersRing().key();
    writer[slot] = (byte) flow.index;
    outstanding[slot] = true;
    return true;
  }

  /** Data came over this sub-flow. */
  void dataArrivedOn(SubFlow flow) {
    returnFlow.dataArrivedOn(flow);
  }

  /** The write with this id was acknowledged. */
  void acknowledged(long id) {
    outstanding[SubFlow.lineOf(id)] = false;
  }

  /** The group in this slot is complete: the sender has had its entries. */
  void released(int slot) {
    if (lostCount != 0) {
      found(slot);
    }
  }

  /** A plane is fenced at both ends: what was outstanding there will never land. */
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

  /** How often entries had to be written again. */
  long repeated() {
    return repeated;
  }
}
