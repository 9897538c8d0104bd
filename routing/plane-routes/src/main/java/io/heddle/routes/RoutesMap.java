package io.heddle.routes;

import io.heddle.platform.Errno;
import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Memory mapping of a routes file, with the numbers of cells and slots from the file's header. */
final class RoutesMap implements AutoCloseable {
  /* Mode of the file: jobs of other users may read it. */
  private static final int MODE = 0644;

  private final Path path;
  private final OpenFile file;
  private final FileStatus status;
  private final long bytes;
  private boolean closed;
  final long base;
  final int cells;
  final int slotBytes;
  final int slots;
  final long firstSlot;

  private RoutesMap(Path path, OpenFile file, boolean writing, int cells, int slots) {
    bytes = RoutesLayout.fileBytes(cells, slots);
    base = file.map(bytes, writing);
    status = file.status();
    this.path = path;
    this.file = file;
    this.cells = cells;
    this.slots = slots;
    slotBytes = RoutesLayout.slotBytes(cells);
    firstSlot = base + RoutesLayout.slotsOffset(cells);
  }

  /**
   * Creates a file with all of its blocks allocated: a store into a mapped page that a full disk
   * can't hold would kill the process.
   *
   * @throws HeddleException whose message has the reason and the number of bytes needed
   */
  static RoutesMap create(Path path, int cells, int slots) {
    long bytes = RoutesLayout.fileBytes(cells, slots);
    String name = path.getFileName().toString();
    try (OpenFolder folder = OpenFolder.parentOf(path)) {
      folder.remove(name);
      OpenFile file = folder.create(name, MODE);
      try {
        /* The mode is set before there is any content, and so is independent of the umask. */
        file.setMode(MODE);
        file.allocate(0, bytes);
        RoutesMap map = new RoutesMap(path, file, true, cells, slots);
        RoutesLayout.setInt(map.base + RoutesLayout.CELLS, cells);
        RoutesLayout.setInt(map.base + RoutesLayout.SLOTS, slots);
        RoutesLayout.setInt(map.base + RoutesLayout.SLOT_BYTES, map.slotBytes);
        return map;
      } catch (SystemCallException failure) {
        file.close();
        folder.remove(name);
        throw failure;
      }
    } catch (SystemCallException failure) {
      throw new HeddleException(
          "the routes file can't be written: "
              + path
              + " needs "
              + bytes
              + " bytes: "
              + FileFailure.reason(failure)
              + "; make room there, or name another place with \"publish\" in the daemon's"
              + " configuration and HEDDLE_ROUTES for the jobs",
          failure);
    }
  }

  /**
   * Opens a published file for reading.
   *
   * @return null if there is no file
   * @throws HeddleException for a file that isn't a routes file, can't be read, or whose owner
   *     isn't trusted with routes
   */
  static @Nullable RoutesMap open(Path path) {
    return open(path, false);
  }

  /**
   * Opens a file that a daemon of this user has published, for writing, so that it can be marked as
   * superseded.
   */
  static @Nullable RoutesMap openToSupersede(Path path) {
    return open(path, true);
  }

  private static @Nullable RoutesMap open(Path path, boolean writing) {
    try (OpenFolder folder = OpenFolder.parentOf(path)) {
      OpenFile file = folder.open(path.getFileName().toString(), writing);
      try {
        requireTrusted(path, file.status(), folder.status(), writing);
        return open(path, file, writing);
      } catch (RuntimeException failure) {
        file.close();
        throw failure;
      }
    } catch (SystemCallException failure) {
      if (failure.errno() == Errno.ENOENT) {
        return null;
      }
      throw new HeddleException(
          "the routes file " + path + " can't be read: " + FileFailure.reason(failure), failure);
    }
  }

  /**
   * Requires that a path names no file yet, an empty one, a routes file of any release, or a link.
   *
   * @throws HeddleException for any other file, which publishing would replace
   */
  static void requireReplaceable(Path path) {
    try (OpenFolder folder = OpenFolder.parentOf(path);
        OpenFile file = folder.open(path.getFileName().toString(), false)) {
      byte[] start = file.read(Long.BYTES);
      byte[] magic =
          ByteBuffer.allocate(Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(RoutesLayout.MAGIC)
              .array();
      /* The last byte is the number of the layout. */
      int common = Long.BYTES - 1;
      if (start.length > 0
          && !Arrays.equals(Arrays.copyOf(start, common), Arrays.copyOf(magic, common))) {
        throw new HeddleException(
            "the routes file can't be published: there is a file "
                + path
                + " of another kind; name another with \"publish\" in the configuration");
      }
    } catch (SystemCallException failure) {
      /* A link leads to what another user or program chose, and is replaced itself. */
      if (failure.errno() != Errno.ENOENT && failure.errno() != Errno.ELOOP) {
        throw new HeddleException(
            "the routes file %s can't be published: %s; name another with \"publish\" in the"
                    .formatted(path, FileFailure.reason(failure))
                + " configuration",
            failure);
      }
    }
  }

  /*
   * Requires a trusted owner of a file. Routes are accepted from root, from this process's user,
   * and from the folder's owner, who can replace the file anyway. A user who configures a path
   * trusts the owner of its folder; root has chosen the owner of the default folder.
   */
  private static void requireTrusted(
      Path path, FileStatus file, FileStatus folder, boolean writing) {
    int owner = file.owner();
    boolean trusted =
        owner == ProcessCalls.geteuid()
            || !writing
                && (owner == FileStatus.ROOT
                    || owner == folder.owner() && !folder.isWritableByOthers());
    if (!trusted || file.isWritableByOthers()) {
      throw new HeddleException(
          "the routes file "
              + path
              + " isn't followed: it is "
              + file.describe()
              + ", in "
              + folder.describe()
              + "; only root, this user and the owner of a folder of its own may publish routes");
    }
  }

  private static RoutesMap open(Path path, OpenFile file, boolean writing) {
    byte[] start = file.read(RoutesLayout.HEADER_BYTES);
    ByteBuffer header = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
    boolean whole = start.length == RoutesLayout.HEADER_BYTES;
    int cells = whole ? header.getInt(RoutesLayout.CELLS) : 0;
    int slots = whole ? header.getInt(RoutesLayout.SLOTS) : 0;
    if (!whole
        || header.getLong(0) != RoutesLayout.MAGIC
        || cells < 1
        || cells > RoutesLayout.MAX_PLANES
        || slots < 1
        || Integer.bitCount(slots) != 1
        || header.getInt(RoutesLayout.SLOT_BYTES) != RoutesLayout.slotBytes(cells)
        || file.sizeBytes() < RoutesLayout.fileBytes(cells, slots)) {
      throw new HeddleException(
          path
              + " is not a routes file of this release; run the same release of Heddle for the"
              + " daemon and the jobs");
    }
    return new RoutesMap(path, file, writing, cells, slots);
  }

  /**
   * Returns whether the name still refers to this file, so that the file was neither replaced nor
   * removed.
   */
  boolean isFileAt(Path name) {
    try {
      FileStatus there = OpenFolder.statusOf(name);
      return there != null && there.isSameFile(status);
    } catch (SystemCallException hidden) {
      return false;
    }
  }

  /**
   * Returns whether the file is at least as long as the mapping. An access beyond the file's end
   * causes a SIGBUS. The JVM turns the signal into an InternalError, unless the host process has
   * replaced the JVM's signal handler. So callers check before and after reading; each check costs
   * a system call.
   */
  boolean isWhole() {
    return file.sizeBytes() >= bytes;
  }

  /**
   * @throws RoutesTruncatedException unless {@link #isWhole}
   */
  void requireWhole() {
    if (!isWhole()) {
      throw truncationException(null);
    }
  }

  RoutesTruncatedException truncationException(@Nullable InternalError fault) {
    return new RoutesTruncatedException(path, fault);
  }

  long slot(int index) {
    return firstSlot + (long) index * slotBytes;
  }

  /**
   * Finds the slot of a prefix.
   *
   * @return address of the slot. If the table lacks the prefix: complement of the address of the
   *     free slot that the prefix would take. A reader gets an undefined result if the writer
   *     changes the table meanwhile
   */
  long find(long high, long low, int length) {
    int index = RoutesLayout.hash(high, low, length) & slots - 1;
    for (int probe = 0; probe < slots; probe++) {
      long slot = slot(index);
      int there = RoutesLayout.getInt(slot + RoutesLayout.SLOT_LENGTH);
      if (there == 0) {
        return ~slot;
      }
      if (there == length + 1
          && RoutesLayout.getLong(slot + RoutesLayout.SLOT_LOW) == low
          && RoutesLayout.getLong(slot + RoutesLayout.SLOT_HIGH) == high) {
        return slot;
      }
      index = index + 1 & slots - 1;
    }
    return ~0L;
  }

  /**
   * Frees a slot and closes the gap in its chain, so that look-ups can stop at the first free slot.
   * Called by the writer only.
   */
  void free(long slot) {
    int gap = (int) ((slot - firstSlot) / slotBytes);
    int index = gap;
    while (true) {
      index = index + 1 & slots - 1;
      long next = slot(index);
      int length = RoutesLayout.getInt(next + RoutesLayout.SLOT_LENGTH) - 1;
      if (length < 0) {
        break;
      }
      int home =
          RoutesLayout.hash(
                  RoutesLayout.getLong(next + RoutesLayout.SLOT_HIGH),
                  RoutesLayout.getLong(next + RoutesLayout.SLOT_LOW),
                  length)
              & slots - 1;
      /*
       * The entry can move to the gap unless its home slot, where look-ups begin, comes after the
       * gap.
       */
      if ((index - home & slots - 1) >= (index - gap & slots - 1)) {
        Memory.copy(next, slot(gap), slotBytes);
        gap = index;
      }
    }
    Memory.clear(slot(gap), slotBytes);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      MemoryCalls.unmapMemory(base, bytes);
      file.close();
    }
  }
}
