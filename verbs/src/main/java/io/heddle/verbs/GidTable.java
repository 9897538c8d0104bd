package io.heddle.verbs;

import java.util.List;
import java.util.OptionalInt;

/**
 * Snapshot of a port's GIDs. The table may be sparse: each entry carries its index.
 *
 * @param entries entries, ordered by index
 */
public record GidTable(List<Entry> entries) {
  /** Type of a GID (ibv_gid_type). */
  public enum Type {
    INFINIBAND,
    ROCE_V1,
    ROCE_V2
  }

  /**
   * Entry of the table.
   *
   * @param index position in the port's table, as address vectors name it
   * @param interfaceIndex index of the network interface with this address; 0 if unknown
   */
  public record Entry(int index, Gid gid, Type type, int interfaceIndex) {}

  public GidTable {
    entries = List.copyOf(entries);
  }

  /**
   * Returns the current index of this RoCEv2 or InfiniBand GID. An index is valid only until the
   * next address change.
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
