package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.OptionalInt;

/**
 * Port of an open device, shared by all objects created on it. The address of its {@code
 * ibv_context} is used only while the {@link OwnershipLock} is held.
 */
final class OpenPort {
  private final String name;
  private final int number;
  private final long address;
  private final Log log;
  private final LeakLedger ledger;
  private final DeviceQuery limits;
  private final GidReader gids;
  private final OwnershipLock lock = new OwnershipLock();
  private boolean closed; /* written under the exclusive lock, read under the shared one */

  /**
   * @param address address of the {@code ibv_context}
   */
  OpenPort(String name, int number, long address, String systemPath, Log log, LeakLedger ledger) {
    this.name = name;
    this.number = number;
    this.address = address;
    this.log = log;
    this.ledger = ledger;
    limits = DeviceQuery.read(address, name);
    gids = new GidReader(address, number, systemPath);
  }

  long address() {
    return address;
  }

  DeviceQuery limits() {
    return limits;
  }

  LeakLedger ledger() {
    return ledger;
  }

  OwnershipLock lock() {
    return lock;
  }

  Log log() {
    return log;
  }

  String name() {
    return name;
  }

  int number() {
    return number;
  }

  /** Fails if the port is closed. The caller holds the shared lock. */
  void requireOpen(Verb verb) {
    if (closed) {
      throw verb.failure(name() + ", which is closed", Errno.ENODEV);
    }
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Marks the port closed: no more objects are created on it. The caller holds the exclusive lock.
   */
  void markClosed() {
    closed = true;
  }

  /** Queries the port's state. */
  PortQuery portState() {
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_PORT);
      return PortQuery.read(address, name, number);
    });
  }

  /** Queries the port's addresses. */
  GidTable gidTable() {
    PortQuery state = portState();
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_GID_TABLE);
      return gids.read(state);
    });
  }

  /** Returns the index of a partition key in the port's table. Unreadable entries are skipped. */
  OptionalInt partitionIndex(int key) {
    PortQuery state = portState();
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_PKEY);
      try (Arena arena = Arena.ofConfined()) {
        long entry = Memory.allocate(arena, Short.BYTES, Short.BYTES);
        for (int index = 0; index < state.partitions(); index++) {
          if (Verb.QUERY_PKEY.attempt(address, number, index, entry) == 0
              && Memory.ALL.get(Memory.NETWORK_SHORT, entry) == (short) key) {
            return OptionalInt.of(index);
          }
        }
      }
      return OptionalInt.empty();
    });
  }

  /**
   * Returns the entry at this index.
   *
   * @throws VerbsException if the entry is empty or the index is beyond the table
   */
  GidTable.Entry gidAt(int index, String user) {
    GidTable table = gidTable();
    return table.entries().stream()
        .filter(entry -> entry.index() == index)
        .findFirst()
        .orElseThrow(() ->
            new VerbsException(
                "modify_qp",
                "%s, GID index %s (filled indexes: %s)"
                    .formatted(
                        user, index, table.entries().stream().map(GidTable.Entry::index).toList()),
                Errno.EINVAL));
  }

  /**
   * Returns the address's current index, which may differ from its earlier one.
   *
   * @throws VerbsException if the port no longer has the address
   */
  int indexOf(GidTable.Entry wanted, String user) {
    for (GidTable.Entry entry : gidTable().entries()) {
      if (entry.type() == wanted.type() && entry.gid().equals(wanted.gid())) {
        return entry.index();
      }
    }
    throw new VerbsException(
        "modify_qp",
        "%s: address %s is no longer in the port's GID table".formatted(user, wanted.gid()),
        Errno.EADDRNOTAVAIL);
  }

  /** Queries the LID of an InfiniBand port; 0 on Ethernet. */
  int lid() {
    PortQuery state = portState();
    return state.ethernet() ? 0 : state.lid();
  }

  @Override
  public String toString() {
    return name;
  }
}
