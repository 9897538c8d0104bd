package io.heddle.stats;

import io.heddle.platform.Errno;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessLimits;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process's statistics: a mapped file, or private memory if there can be no file.
 * Without a file the job runs on; only a warning is logged.
 *
 * <p>The file has its full length at once. Its blocks are allocated before their first use, since a
 * store into a mapped page raises SIGBUS if the file system has no room.
 */
final class StatsMemory implements AutoCloseable {
  private static final int MODE = 0644;

  /** Number of records whose blocks are allocated together: 32 KiB. */
  private static final int RECORDS_TOGETHER = 16;

  final long base;
  private final Log log;
  private final String name;
  private final boolean removeWhenClosed;
  private final @Nullable OpenFolder folder;

  /*
   * Open and locked as long as the process lives: the lock shows others that the file is in use.
   * Null if the counters are in memory only.
   */
  private final @Nullable OpenFile file;
  private boolean named;
  private boolean closed;
  private int roomFor;
  private boolean full;
  private @Nullable String pendingWarning;

  /**
   * @param name the file's name after {@link #publish}
   * @param directory folder of the file; null for that of {@link DefaultStatsFolder}, where the
   *     file is removed when this is closed
   */
  StatsMemory(String name, @Nullable Path directory, Path sharedMemory, Log log) {
    this.name = name;
    this.log = log;
    removeWhenClosed = directory == null;
    Path place = directory == null ? sharedMemory : directory;
    OpenFolder opened = null;
    OpenFile made = null;
    long mapped = 0;
    try {
      opened = directory == null ? defaultFolder(sharedMemory) : createFolder(directory);
      if (opened != null) {
        place = opened.path();
        made = make(opened);
        mapped = made.map(StatsLayout.FILE_BYTES, true);
      }
    } catch (SystemCallException failure) {
      warnNoFile(place, FileFailure.reason(failure));
    } catch (IOException failure) {
      warnNoFile(place, FileFailure.reason(failure));
    }
    if (mapped == 0 && made != null) {
      made.close();
      made = null;
    }
    folder = opened;
    file = made;
    roomFor = made == null ? StatsLayout.RECORDS : RECORDS_TOGETHER;
    base = made == null ? privateMemory() : mapped;
  }

  private static long privateMemory() {
    long address = MemoryCalls.mapMemory(StatsLayout.FILE_BYTES);
    if (address < 0) {
      throw new HeddleException(
          "no memory for counters: %s bytes, %s; %s"
              .formatted(
                  StatsLayout.FILE_BYTES,
                  Errno.describe((int) -address),
                  ProcessLimits.ofMemory()));
    }
    return address;
  }

  private void warnNoFile(Path place, String why) {
    log.warn(
        "the job runs without statistics, so heddle stat, errors and drain don't see it: %s: %s;"
            + " HEDDLE_STATS_DIR names another folder",
        place, why);
  }

  private @Nullable OpenFolder defaultFolder(Path sharedMemory) {
    DefaultStatsFolder.Found found = DefaultStatsFolder.findOrCreate(sharedMemory);
    String taken = String.join("; ", found.taken());
    OpenFolder own = found.folder();
    if (own == null) {
      warnNoFile(sharedMemory, "all names for this user's folder are taken: " + taken);
    } else if (!taken.isEmpty()) {
      log.warn("the statistics are in %s, since the usual name is taken: %s", own.path(), taken);
    }
    return own;
  }

  /*
   * Creates the folder that the user named. Symbolic links are followed: the user is responsible
   * for them.
   */
  private static OpenFolder createFolder(Path directory) throws IOException {
    Files.createDirectories(directory);
    return OpenFolder.open(directory.toRealPath());
  }

  private OpenFile make(OpenFolder in) throws IOException {
    if (removeWhenClosed) {
      StaleStats.remove(in);
    }
    String unfinished = name + StaleStats.UNFINISHED_SUFFIX;
    in.remove(unfinished);
    OpenFile made = in.create(unfinished, MODE);
    try {
      made.tryLock();
      made.resize(StatsLayout.FILE_BYTES);
      made.allocate(0, StatsLayout.record(RECORDS_TOGETHER));
      return made;
    } catch (SystemCallException failure) {
      made.close();
      in.remove(unfinished);
      throw failure;
    }
  }

  /** Gives the file its final name; called when the content is complete. */
  void publish() {
    if (folder == null || file == null) {
      return;
    }
    try {
      folder.rename(name + StaleStats.UNFINISHED_SUFFIX, name + StaleStats.SUFFIX);
      named = true;
    } catch (SystemCallException failure) {
      warnNoFile(folder.path(), FileFailure.reason(failure));
    }
  }

  /**
   * Returns whether a record may be written, and allocates its blocks if necessary. If there is no
   * room, {@link #takeWarning} has a sentence about it.
   */
  boolean hasRoomFor(int record) {
    OpenFile of = file;
    while (of != null && record >= roomFor && !full) {
      try {
        long from = StatsLayout.record(roomFor);
        of.allocate(from, (long) RECORDS_TOGETHER * StatsLayout.RECORD_BYTES);
        roomFor += RECORDS_TOGETHER;
      } catch (SystemCallException failure) {
        full = true;
        pendingWarning =
            "heddle stat doesn't show the counters of this process's further communicators: %s: %s;"
                    .formatted(folder(), FileFailure.reason(failure))
                + " HEDDLE_STATS_DIR names another folder";
      }
    }
    return record < roomFor;
  }

  /** Returns the pending warning and clears it; null if there is none. */
  @Nullable String takeWarning() {
    String warning = pendingWarning;
    pendingWarning = null;
    return warning;
  }

  /** Returns the folder of the file, which also holds the drain orders; null if there is none. */
  @Nullable Path folder() {
    return folder == null ? null : folder.path();
  }

  /** Returns the path of the file; null if the counters are in memory only. */
  @Nullable Path path() {
    return folder == null || !named ? null : folder.path().resolve(name + StaleStats.SUFFIX);
  }

  /**
   * @throws SystemCallException if the file can't be removed
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    MemoryCalls.unmapMemory(base, StatsLayout.FILE_BYTES);
    if (file != null) {
      file.close();
    }
    if (folder != null) {
      try (folder) {
        if (removeWhenClosed && named) {
          remove(folder);
        }
      }
    }
  }

  /*
   * Removes the file, or warns if the process has changed its user since it created the file and
   * may no longer remove it.
   */
  private void remove(OpenFolder from) {
    String file = name + StaleStats.SUFFIX;
    try {
      from.remove(file);
    } catch (SystemCallException refused) {
      if (refused.errno() != Errno.EACCES && refused.errno() != Errno.EPERM) {
        throw refused;
      }
      log.warn(
          "%s stays, since this process no longer runs as its owner (%s); the next process of that"
              + " user removes it",
          from.path().resolve(file), Errno.describe(refused.errno()));
    }
  }
}
