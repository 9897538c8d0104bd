package io.heddle.bridge.status;

import io.heddle.bridge.peer.Role;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Mapped file with the status of a running bridge. The bridge's counters are in the file, so
 * reporting them costs nothing, and the last values outlive the process.
 *
 * <p>The control path assigns slots and writes texts; the data thread counts. The file is sparse,
 * and a slot is allocated when it is assigned.
 */
public final class StatusFile implements AutoCloseable {
  private static final long LENGTH = StatusLayout.FILE_BYTES;
  private static final int MODE = 0644;

  private final OpenFile file;
  private final long address;

  private StatusFile(OpenFile file, long address) {
    this.file = file;
    this.address = address;
  }

  /**
   * Creates the file and keeps it locked while it is open.
   *
   * @param bridge name of the bridge, for people
   * @param config path of the bridge's configuration file
   * @throws HeddleException if the file can't be created, or belongs to a running bridge
   */
  public static StatusFile create(Path path, String bridge, String config) {
    try {
      OpenFolder.createAbove(path);
    } catch (IOException refused) {
      throw creationFailure(path, FileFailure.reason(refused), refused);
    }
    try (OpenFolder folder = OpenFolder.parentOf(path)) {
      OpenFile file = folder.openOrCreate(path.getFileName().toString(), MODE);
      if (!file.tryLockExclusively()) {
        file.close();
        throw new HeddleException(
            "another bridge runs with the status file "
                + path
                + "; end it, or name another file with \"status\" in the configuration");
      }
      try {
        requireOwn(path, file);
        file.resize(0);
        file.resize(LENGTH);
        file.allocate(0, StatusLayout.PAGE_BYTES);
        StatusFile status = new StatusFile(file, file.map(LENGTH, true));
        status.begin(bridge, config);
        return status;
      } catch (HeddleException refused) {
        file.close();
        throw refused;
      }
    } catch (SystemCallException refused) {
      throw creationFailure(path, FileFailure.reason(refused), refused);
    }
  }

  /*
   * Refuses a file of another kind, which the status would overwrite. A creation that didn't end
   * has left zeros.
   */
  private static void requireOwn(Path path, OpenFile file) {
    byte[] start = file.read(Long.BYTES);
    boolean unfinished = Arrays.equals(start, new byte[Long.BYTES]) && file.sizeBytes() == LENGTH;
    boolean whole =
        start.length == Long.BYTES
            && ByteBuffer.wrap(start).order(ByteOrder.nativeOrder()).getLong()
                == StatusLayout.MAGIC;
    if (start.length > 0 && !unfinished && !whole) {
      throw creationFailure(path, "there is a file that isn't a bridge's status", null);
    }
  }

  private static HeddleException creationFailure(Path path, String why, @Nullable Exception cause) {
    return new HeddleException(
        "the status file "
            + path
            + " can't be created: "
            + why
            + "; \"status\" in the configuration names another",
        cause);
  }

  private void begin(String bridge, String config) {
    Memory.setInt(address + StatusLayout.VERSION_AT, StatusLayout.VERSION);
    Memory.setLong(address + StatusLayout.PROCESS_AT, ProcessHandle.current().pid());
    Memory.setLong(address + StatusLayout.STARTED_MS_AT, System.currentTimeMillis());
    StatusLayout.putText(address + StatusLayout.NAME_AT, StatusLayout.TEXT_BYTES, bridge);
    StatusLayout.putText(address + StatusLayout.CONFIG_AT, StatusLayout.TEXT_BYTES, config);
    alive();
    Memory.setLongRelease(address + StatusLayout.MAGIC_AT, StatusLayout.MAGIC);
  }

  /** Writes the heartbeat of the control thread. */
  public void alive() {
    Memory.setLong(address + StatusLayout.ALIVE_NS_AT, System.nanoTime());
    Memory.setLong(address + StatusLayout.ALIVE_MS_AT, System.currentTimeMillis());
  }

  /** Counts a reload of the configuration. */
  public void nextGeneration() {
    long at = address + StatusLayout.GENERATION_AT;
    Memory.setLong(at, Memory.getLong(at) + 1);
  }

  /** Sets the error shown to the operator; only the newest one is kept. */
  public void report(String error) {
    StatusLayout.putText(address + StatusLayout.LAST_ERROR_AT, StatusLayout.ERROR_BYTES, error);
  }

  /**
   * Returns the address of a fabric's counters.
   *
   * @param side 0 for fabric a, 1 for fabric b
   */
  public long fabricCounters(int side) {
    return StatusLayout.fabric(address, side) + StatusLayout.FABRIC_COUNTERS_AT;
  }

  /** Sets the name and the description of a fabric. */
  public void describeFabric(int side, String name, String description) {
    long at = StatusLayout.fabric(address, side);
    StatusLayout.putText(at, StatusLayout.TEXT_BYTES, name);
    StatusLayout.putText(at + StatusLayout.TEXT_BYTES, StatusLayout.TEXT_BYTES * 2, description);
  }

  /**
   * Assigns a free slot to a group, with counters of zero.
   *
   * @throws HeddleException if no slot is free
   */
  public int open(String group, String settings) {
    return open(group, settings, StatusLayout.USED);
  }

  /** Assigns a free slot to unicast. */
  public int openUnicast(String settings) {
    return open("unicast", settings, StatusLayout.UNICAST);
  }

  private int open(String group, String settings, int state) {
    int slot = 0;
    while (slot < StatusLayout.MOST_SLOTS && state(slot) != StatusLayout.FREE) {
      slot++;
    }
    if (slot == StatusLayout.MOST_SLOTS) {
      throw new HeddleException(
          "a bridge has at most " + StatusLayout.MOST_SLOTS + " groups; give some to another one");
    }
    long at = StatusLayout.slot(address, slot);
    allocate(at - address, StatusLayout.SLOT_BYTES);
    Memory.clear(at, StatusLayout.SLOT_BYTES);
    StatusLayout.putText(at + StatusLayout.GROUP_AT, StatusLayout.TEXT_BYTES, group);
    describe(slot, settings);
    Memory.setIntRelease(at + StatusLayout.STATE_AT, state);
    long used = address + StatusLayout.SLOTS_USED_AT;
    Memory.setLongRelease(used, Math.max(Memory.getLong(used), slot + 1));
    return slot;
  }

  private void allocate(long offset, long lengthBytes) {
    try {
      file.allocate(offset, lengthBytes);
    } catch (SystemCallException refused) {
      throw new HeddleException(
          "the status file %s can't grow: %s; make room there, or name another with \"status\""
              .formatted(file.path(), FileFailure.reason(refused)),
          refused);
    }
  }

  private int state(int slot) {
    /* A slot after the used ones isn't allocated yet, and reads as zero. */
    return slot < Memory.getLong(address + StatusLayout.SLOTS_USED_AT)
        ? Memory.getInt(StatusLayout.slot(address, slot) + StatusLayout.STATE_AT)
        : StatusLayout.FREE;
  }

  /** Sets the description of a group's settings. */
  public void describe(int slot, String settings) {
    StatusLayout.putText(
        StatusLayout.slot(address, slot) + StatusLayout.SETTINGS_AT,
        2 * StatusLayout.TEXT_BYTES,
        settings);
  }

  /** Sets whether a group's packets are parsed as PGM. */
  public void setPgm(int slot, boolean reads) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.PGM_FLAG_AT, reads ? 1 : 0);
  }

  /**
   * Records that one of this many packets of a group is dropped on purpose.
   *
   * @param every at least 1; 0 if none is
   */
  public void dropOneOf(int slot, int every) {
    Memory.setIntRelease(StatusLayout.slot(address, slot) + StatusLayout.DROP_EVERY_AT, every);
  }

  /**
   * Allocates the records of PGM sessions.
   *
   * @return address of the first of {@link PgmSessionRecord#MOST_SESSIONS} records
   */
  public long pgmSessions() {
    allocate(StatusLayout.PGM_AT, StatusLayout.PGM_BYTES);
    return address + StatusLayout.PGM_AT;
  }

  /**
   * Sets the owner of a group.
   *
   * @param owner number of the bridge that the group is assigned to; 0 for none
   * @param role this bridge's role for the group
   */
  public void setOwner(int slot, int owner, Role role) {
    long at = StatusLayout.slot(address, slot);
    Memory.setInt(at + StatusLayout.OWNER_AT, owner);
    /* 0 stands for a single bridge. */
    Memory.setIntRelease(at + StatusLayout.ROLE_AT, role.ordinal() + 1);
  }

  /**
   * Returns the writer of the state of redundancy.
   *
   * @param id number of this bridge
   */
  public PeerStatusWriter peers(int id) {
    return new PeerStatusWriter(address, id);
  }

  /** Sets whether a group is suspended. */
  public void suspend(int slot, boolean suspended) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.STATE_AT,
        suspended ? StatusLayout.SUSPENDED : StatusLayout.USED);
  }

  /** Frees a slot. The data thread must no longer count in it. */
  public void release(int slot) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.STATE_AT, StatusLayout.FREE);
  }

  /**
   * Returns the address of a group's counters in one direction.
   *
   * @param from 0 for packets from fabric a, 1 for packets from fabric b
   */
  public long counters(int slot, int from) {
    return StatusLayout.block(StatusLayout.slot(address, slot), from);
  }

  /** Returns the addresses of a group's counters in both directions, from fabric a first. */
  public long[] counters(int slot) {
    return new long[] {counters(slot, 0), counters(slot, 1)};
  }

  @Override
  public void close() {
    try {
      /* This access faults if another process has truncated the file. */
      Memory.setLong(address + StatusLayout.ALIVE_MS_AT, 0);
    } finally {
      MemoryCalls.unmapMemory(address, LENGTH);
      file.close();
    }
  }
}
