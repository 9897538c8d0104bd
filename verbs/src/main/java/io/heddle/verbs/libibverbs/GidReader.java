package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_gid_entry;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Reader of a port's GID table. It uses the first method that this host's library and kernel
 * support: the whole table at once; entry by entry; entry by entry with the type from sysfs.
 * Entries that are empty or unreadable are left out.
 */
final class GidReader {
  private static final long ENTRY_BYTES = ibv_gid_entry.sizeof();

  private final long context;
  private final int port;
  private final Path types;

  /**
   * @param systemPath directory of the device in sysfs
   */
  GidReader(long context, int port, String systemPath) {
    this.context = context;
    this.port = port;
    types = Path.of(systemPath, "ports", Integer.toString(port), "gid_attrs", "types");
  }

  GidTable read(PortQuery state) {
    try (Arena arena = Arena.ofConfined()) {
      List<GidTable.Entry> entries = new ArrayList<>();
      if (!readWhole(arena, state.gids(), entries)) {
        readEach(arena, state, entries);
      }
      entries.sort(Comparator.comparingInt(GidTable.Entry::index));
      return new GidTable(entries);
    }
  }

  /*
   * Reads the whole table at once. The call returns the entries of all ports of the device and
   * needs space for them; some devices have two ports.
   */
  private boolean readWhole(Arena arena, int length, List<GidTable.Entry> entries) {
    if (!Verb.QUERY_GID_TABLE.isPresent() || length == 0) {
      return false;
    }
    long most = 4L * length;
    long table = Memory.allocate(arena, most * ENTRY_BYTES, Long.BYTES);
    long count = Verb.QUERY_GID_TABLE.attempt(context, table, most, 0, ENTRY_BYTES);
    for (int i = 0; i < count; i++) {
      long entry = table + i * ENTRY_BYTES;
      if (Memory.ALL.get(Memory.NATIVE_INT, entry + ibv_gid_entry.port_num$offset()) == port) {
        add(entry, entries);
      }
    }
    return count >= 0;
  }

  private void readEach(Arena arena, PortQuery state, List<GidTable.Entry> entries) {
    long entry = Memory.allocate(arena, ENTRY_BYTES, Long.BYTES);
    for (int index = 0; index < state.gids(); index++) {
      Memory.clear(entry, ENTRY_BYTES);
      if (Verb.QUERY_GID_EX.isPresent()) {
        if (Verb.QUERY_GID_EX.attempt(context, port, index, entry, 0, ENTRY_BYTES) == 0) {
          add(entry, entries);
        }
      } else if (Verb.QUERY_GID.attempt(context, port, index, entry) == 0) {
        Gid gid = gid(entry);
        GidTable.Type type = typeFromSystem(index, state.ethernet());
        if (type != null && !isEmpty(gid)) {
          entries.add(new GidTable.Entry(index, gid, type, 0));
        }
      }
    }
  }

  private static void add(long entry, List<GidTable.Entry> entries) {
    Gid gid = gid(entry);
    GidTable.Type type =
        type(Memory.ALL.get(Memory.NATIVE_INT, entry + ibv_gid_entry.gid_type$offset()));
    if (!isEmpty(gid) && type != null) {
      entries.add(
          new GidTable.Entry(
              Memory.ALL.get(Memory.NATIVE_INT, entry + ibv_gid_entry.gid_index$offset()),
              gid,
              type,
              Memory.ALL.get(Memory.NATIVE_INT, entry + ibv_gid_entry.ndev_ifindex$offset())));
    }
  }

  private static Gid gid(long entry) {
    return Gid.of(Memory.toArray(entry + ibv_gid_entry.gid$offset(), Gid.BYTES));
  }

  private static boolean isEmpty(Gid gid) {
    return gid.high() == 0 && gid.low() == 0;
  }

  private static GidTable.@org.jspecify.annotations.Nullable Type type(int code) {
    if (code == VerbsConstants.IBV_GID_TYPE_ROCE_V2()) {
      return GidTable.Type.ROCE_V2;
    }
    if (code == VerbsConstants.IBV_GID_TYPE_ROCE_V1()) {
      return GidTable.Type.ROCE_V1;
    }
    return code == VerbsConstants.IBV_GID_TYPE_IB() ? GidTable.Type.INFINIBAND : null;
  }

  /*
   * Returns null for an entry whose type can't be read. Without any types in sysfs, an Ethernet
   * device's GIDs count as RoCEv2.
   */
  private GidTable.@org.jspecify.annotations.Nullable Type typeFromSystem(
      int index, boolean ethernet) {
    if (!ethernet) {
      return GidTable.Type.INFINIBAND;
    }
    if (!Files.isDirectory(types)) {
      return GidTable.Type.ROCE_V2;
    }
    try {
      String text = Files.readString(types.resolve(Integer.toString(index)));
      return text.toLowerCase(Locale.ROOT).contains("v2")
          ? GidTable.Type.ROCE_V2
          : GidTable.Type.ROCE_V1;
    } catch (IOException emptyEntry) {
      return null;
    }
  }
}
