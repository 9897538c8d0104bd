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
 * A port of an opened device, as everything that is created on it sees it. What uses its address
 * does so under the shared lock.
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
  private boolean closed; /* written alone, read shared */

  /**
   * @param address of the {@code ibv_context}
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

  /** Under the shared lock. */
  void requireOpen(Verb verb) {
    if (closed) {
      throw verb.failure(name() + ", which is closed", Errno.ENODEV);
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Under the lock, alone: nothing is created on it from now on. */
  void markClosed() {
    closed = true;
  }

  /** What the port is now. */
  PortQuery portState() {
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_PORT);
      return PortQuery.read(address, name, number);
    });
  }

  /** The addresses that the port has now. */
  GidTable gidTable() {
    PortQuery state = portState();
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_GID_TABLE);
      return gids.read(state);
    });
  }

  /** Where a partition key is in the port's table. An entry that can't be read isn't it. */
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
   * The entry at this index.
   *
   * @throws VerbsException where it's empty or beyond the table
   */
  GidTable.Entry gidAt(int index, String user) {
    GidTable table = gidTable();
    return table.entries().stream()
        .filter(entry -> entry.index() == index)
        .findFirst()
        .orElseThrow(() ->
            new VerbsException(
                "modify_qp",
                "%s, GID index %s (filled are %s)"
                    .formatted(
                        user, index, table.entries().stream().map(GidTable.Entry::index).toList()),
                Errno.EINVAL));
  }

  /**
   * Where the address is now, whatever its index was before.
   *
   * @throws VerbsException when the port has it no more
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

  /** The local identifier of an InfiniBand port; 0 on Ethernet. */
  int lid() {
    PortQuery state = portState();
    return state.ethernet() ? 0 : state.lid();
  }

  @Override
  public String toString() {
    return name;
  }
}
