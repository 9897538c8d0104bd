package io.heddle.verbs;

import java.util.List;
import java.util.OptionalInt;

/**
 * A snapshot of a port's GIDs. The table may be sparse: entries carry their index.
 *
 * @param entries in order of index
 */
public record GidTable(List<Entry> entries) {
  /** The kind of a GID (ibv_gid_type). */
  public enum Type {
    INFINIBAND,
    ROCE_V1,
    ROCE_V2
  }

  /**
   * One GID.
   *
   * @param index position in the port's table, as address vectors name it
   * @param interfaceIndex index of the network interface that carries the address, 0 where unknown
   */
  public record Entry(int index, Gid gid, Type type, int interfaceIndex) {}

  public GidTable {
    entries = List.copyOf(entries);
  }

  /**
   * Where this GID is now, as RoCEv2 or of InfiniBand; a port has one of them. An index is good
   * only until the next address change.
   */
  public OptionalInt indexOf(Gid gid) {
    for (Entry entry : entries) {
      if (entry.type() != Type.ROCE_V1 && entry.gid().equals(gid)) {
        return OptionalInt.of(entry.index());
      }
    }
    return OptionalInt.empty();
  }
}
