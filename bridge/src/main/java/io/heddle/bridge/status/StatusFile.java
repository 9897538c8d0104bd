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
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The status of a running bridge as a mapped file: its counters live there, so that telling of them
 * costs nothing, and the last ones outlive it.
 *
 * <p>The control thread gives out slots and writes texts; the data thread counts. The file is
 * sparse, and a slot takes room when it is given out.
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
   * Makes the file anew and keeps it locked while it is open.
   *
   * @param bridge its name, for people
   * @throws HeddleException where it can't be made, or belongs to a bridge that runs
   */
  public static StatusFile create(Path path, String bridge, String config) {
    try {
      Path folder = path.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
    } catch (IOException refused) {
      throw unmade(path, FileFailure.reason(refused), refused);
    }
    try (OpenFolder folder = OpenFolder.around(path)) {
      OpenFile file = folder.openOrCreate(path.getFileName().toString(), MODE);
      if (!file.tryLockAlone()) {
        file.close();
        throw new HeddleException(
            "another bridge runs with the status file "
                + path
                + "; end it, or name another file with status= in the configuration");
      }
      file.resize(0);
      file.resize(LENGTH);
      file.allocate(0, StatusLayout.PAGE_BYTES);
      StatusFile status = new StatusFile(file, file.map(LENGTH, true));
      status.begin(bridge, config);
      return status;
    } catch (SystemCallException refused) {
      throw unmade(path, String.valueOf(refused.getMessage()), refused);
    }
  }

  private static HeddleException unmade(Path path, String why, Exception cause) {
    return new HeddleException(
        "the status file "
            + path
            + " can't be made: "
            + why
            + "; status= in the configuration names another",
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

  /** The control thread is still there. */
  public void alive() {
    Memory.setLong(address + StatusLayout.ALIVE_NS_AT, System.nanoTime());
    Memory.setLong(address + StatusLayout.ALIVE_MS_AT, System.currentTimeMillis());
  }

  /** Another configuration is in force. */
  public void nextGeneration() {
    long at = address + StatusLayout.GENERATION_AT;
    Memory.setLong(at, Memory.getLong(at) + 1);
  }

  /** An error that the operator should hear of; the newest stays. */
  public void tell(String error) {
    StatusLayout.putText(address + StatusLayout.LAST_ERROR_AT, StatusLayout.ERROR_BYTES, error);
  }

  /**
   * Names a fabric.
   *
   * @param side 0 or 1
   * @return the address of its counters
   */
  public long fabric(int side, String name, String description) {
    long at = StatusLayout.fabric(address, side);
    StatusLayout.putText(at, StatusLayout.TEXT_BYTES, name);
    StatusLayout.putText(at + StatusLayout.TEXT_BYTES, StatusLayout.TEXT_BYTES * 2, description);
    return at + StatusLayout.FABRIC_COUNTERS_AT;
  }

  /**
   * Gives a free slot to a group, with counters of zero.
   *
   * @throws HeddleException when there is none
   */
  public int open(String group, String settings) {
    return open(group, settings, StatusLayout.USED);
  }

  /** The same for what goes to single hosts. */
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
    file.allocate(at - address, StatusLayout.SLOT_BYTES);
    Memory.clear(at, StatusLayout.SLOT_BYTES);
    StatusLayout.putText(at + StatusLayout.GROUP_AT, StatusLayout.TEXT_BYTES, group);
    describe(slot, settings);
    Memory.setIntRelease(at + StatusLayout.STATE_AT, state);
    long used = address + StatusLayout.SLOTS_USED_AT;
    Memory.setLongRelease(used, Math.max(Memory.getLong(used), slot + 1));
    return slot;
  }

  private int state(int slot) {
    /* A slot behind those that were used has no room yet, and reads as zero. */
    return slot < Memory.getLong(address + StatusLayout.SLOTS_USED_AT)
        ? Memory.getInt(StatusLayout.slot(address, slot) + StatusLayout.STATE_AT)
        : StatusLayout.FREE;
  }

  /** What is set for a group. */
  public void describe(int slot, String settings) {
    StatusLayout.putText(
        StatusLayout.slot(address, slot) + StatusLayout.SETTINGS_AT,
        2 * StatusLayout.TEXT_BYTES,
        settings);
  }

  /** Whether a group's packets are read as PGM. */
  public void readsPgm(int slot, boolean reads) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.PGM_FLAG_AT, reads ? 1 : 0);
  }

  /**
   * Which of a group's packets are dropped on purpose.
   *
   * @param every one of so many; 0 for none
   */
  public void dropOneOf(int slot, int every) {
    Memory.setIntRelease(StatusLayout.slot(address, slot) + StatusLayout.DROP_EVERY_AT, every);
  }

  /**
   * Where PGM sessions are counted, which takes room from now on.
   *
   * @return the first of {@link PgmSessionCounters#MOST_SESSIONS} records
   */
  public long pgmSessions() {
    file.allocate(StatusLayout.PGM_AT, StatusLayout.PGM_BYTES);
    return address + StatusLayout.PGM_AT;
  }

  /**
   * Whose a group is.
   *
   * @param owner the bridge that is to own it; 0 for none
   * @param role this bridge's
   */
  public void own(int slot, int owner, Role role) {
    long at = StatusLayout.slot(address, slot);
    Memory.setInt(at + StatusLayout.OWNER_AT, owner);
    /* 0 is what a bridge has that is alone. */
    Memory.setIntRelease(at + StatusLayout.ROLE_AT, role.ordinal() + 1);
  }

  /**
   * Where it is written who the other bridges are.
   *
   * @param id of this one
   */
  public PeerStatusWriter peers(int id) {
    return new PeerStatusWriter(address, id);
  }

  /** Whether a group is suspended. */
  public void suspend(int slot, boolean suspended) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.STATE_AT,
        suspended ? StatusLayout.SUSPENDED : StatusLayout.USED);
  }

  /** Takes a slot back. The data thread must not count there any more. */
  public void release(int slot) {
    Memory.setIntRelease(
        StatusLayout.slot(address, slot) + StatusLayout.STATE_AT, StatusLayout.FREE);
  }

  /**
   * Where a group's packets of one direction are counted.
   *
   * @param from 0 for those from fabric a, 1 for those from b
   */
  public long counters(int slot, int from) {
    return StatusLayout.block(StatusLayout.slot(address, slot), from);
  }

  @Override
  public void close() {
    try {
      /* Fails where somebody has cut the file. */
      Memory.setLong(address + StatusLayout.ALIVE_MS_AT, 0);
    } finally {
      MemoryCalls.unmapMemory(address, LENGTH);
      file.close();
    }
  }
}
