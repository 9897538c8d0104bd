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
 * Where the statistics of this process are: in a mapped file, or, where there can be none, in
 * memory that nobody else sees. An observer never keeps a job from running, so what is missing
 * costs one warning.
 *
 * <p>The file has its whole length at once and its blocks as they come into use: a store into a
 * mapped page for which the file system has no room would be a fault.
 */
final class StatsMemory implements AutoCloseable {
  private static final int MODE = 0644;

  /** Records whose blocks are taken together: 32 KiB. */
  private static final int RECORDS_TOGETHER = 16;

  final long base;
  private final Log log;
  private final String name;
  private final boolean removeWhenClosed;
  private final @Nullable OpenFolder folder;

  /* Open, and locked, as long as the process lives: the kernel then tells others that the file is in use. Null where the
  counters are in memory only. */
  private final @Nullable OpenFile file;
  private boolean named;
  private boolean closed;
  private int roomFor;
  private boolean full;
  private @Nullable String trouble;

  /**
   * @param name what the file is to be called with {@link #publish}
   * @param directory where; null for what {@link UsualFolder} says, and then the file goes when
   *     this is closed
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
      opened = directory == null ? usual(sharedMemory) : named(directory);
      if (opened != null) {
        place = opened.path();
        made = make(opened);
        mapped = made.map(StatsLayout.FILE_BYTES, true);
      }
    } catch (SystemCallException failure) {
      without(place, FileFailure.reason(failure));
    } catch (IOException failure) {
      without(place, FileFailure.reason(failure));
    }
    if (mapped == 0 && made != null) {
      made.close();
      made = null;
    }
    folder = opened;
    file = made;
    roomFor = made == null ? StatsLayout.RECORDS : RECORDS_TOGETHER;
    base = made == null ? unseen() : mapped;
  }

  private static long unseen() {
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

  private void without(Path place, String why) {
    log.warn(
        "the job runs without statistics, so heddle stat, errors and drain don't see it: %s: %s;"
            + " HEDDLE_STATS_DIR names another folder",
        place, why);
  }

  private @Nullable OpenFolder usual(Path sharedMemory) {
    UsualFolder.Found found = UsualFolder.in(sharedMemory);
    String taken = String.join("; ", found.taken());
    OpenFolder own = found.folder();
    if (own == null) {
      without(sharedMemory, "others have every name for this user's folder: " + taken);
    } else if (!taken.isEmpty()) {
      log.warn("the statistics are in %s, since another has the usual name: %s", own.path(), taken);
    }
    return own;
  }

  /* Whoever names a folder answers for it, and for a link to it. */
  private static OpenFolder named(Path directory) throws IOException {
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

  /** The file takes its name: what has been written is whole. */
  void publish() {
    if (folder == null || file == null) {
      return;
    }
    try {
      folder.rename(name + StaleStats.UNFINISHED_SUFFIX, name + StaleStats.SUFFIX);
      named = true;
    } catch (SystemCallException failure) {
      without(folder.path(), FileFailure.reason(failure));
    }
  }

  /**
   * Whether a record may be written, for which blocks are taken where there are none yet. Where
   * there is no room, {@link #trouble} has a sentence about it.
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
        trouble =
            "heddle stat doesn't see what further communicators of this process count: %s: %s;"
                    .formatted(folder(), FileFailure.reason(failure))
                + " HEDDLE_STATS_DIR names another folder";
      }
    }
    return record < roomFor;
  }

  /** What is to be told, once; null where there is nothing. */
  @Nullable String trouble() {
    String told = trouble;
    trouble = null;
    return told;
  }

  /** The folder in which orders are looked for; null where there is none. */
  @Nullable Path folder() {
    return folder == null ? null : folder.path();
  }

  /** The file; null where the counters are in memory only. */
  @Nullable Path path() {
    return folder == null || !named ? null : folder.path().resolve(name + StaleStats.SUFFIX);
  }

  /**
   * @throws SystemCallException where the file can't be removed
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

  /* A process may have become another user since it made the file. */
  private void remove(OpenFolder from) {
    String file = name + StaleStats.SUFFIX;
    try {
      from.remove(file);
    } catch (SystemCallException refused) {
      if (refused.errno() != Errno.EACCES && refused.errno() != Errno.EPERM) {
        throw refused;
      }
      log.warn(
          "%s stays, since this process isn't its user any more (%s); the next process of that"
              + " user removes it",
          from.path().resolve(file), Errno.describe(refused.errno()));
    }
  }
}
