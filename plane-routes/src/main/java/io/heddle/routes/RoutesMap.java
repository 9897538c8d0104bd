package io.heddle.routes;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A routes file in memory, and what its header says about its shape. */
final class RoutesMap implements AutoCloseable {
  private static final int ZEROS_BYTES = 1 << 20;

  private final Arena arena = Arena.ofShared();
  private final Path path;
  private final FileChannel file;
  private final long bytes;
  final long base;
  final int cells;
  final int slotBytes;
  final int slots;
  final long firstSlot;

  /** What tells this file from the next one under the same name. */
  final @Nullable Object identity;

  private RoutesMap(
      Path path,
      FileChannel file,
      FileChannel.MapMode mode,
      @Nullable Object identity,
      int cells,
      int slots)
      throws IOException {
    bytes = RoutesLayout.fileBytes(cells, slots);
    try {
      base = file.map(mode, 0, bytes, arena).address();
    } catch (IOException failure) {
      arena.close();
      throw failure;
    }
    this.path = path;
    this.file = file;
    this.identity = identity;
    this.cells = cells;
    this.slots = slots;
    slotBytes = RoutesLayout.slotBytes(cells);
    firstSlot = base + RoutesLayout.slotsOffset(cells);
  }

  /**
   * Makes a file whose every block is there: storing into a mapped page that a full disk can't hold
   * would kill the process.
   *
   * @throws HeddleException that says what is missing, with how many bytes
   */
  static RoutesMap create(Path path, int cells, int slots) {
    long bytes = RoutesLayout.fileBytes(cells, slots);
    Set<PosixFilePermission> mode = PosixFilePermissions.fromString("rw-r--r--");
    try {
      Files.deleteIfExists(path);
      FileChannel file =
          FileChannel.open(
              path,
              Set.of(
                  StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(mode));
      try {
        /* So from the first moment, and for jobs of other users to read, whatever the umask has taken. */
        Files.setPosixFilePermissions(path, mode);
        fill(file, bytes);
        RoutesMap map =
            new RoutesMap(path, file, FileChannel.MapMode.READ_WRITE, identity(path), cells, slots);
        RoutesLayout.setInt(map.base + RoutesLayout.CELLS, cells);
        RoutesLayout.setInt(map.base + RoutesLayout.SLOTS, slots);
        RoutesLayout.setInt(map.base + RoutesLayout.SLOT_BYTES, map.slotBytes);
        return map;
      } catch (IOException failure) {
        file.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw new HeddleException(
          "the routes file can't be written: "
              + path
              + " needs "
              + bytes
              + " bytes: "
              + failure.getMessage()
              + "; make room there, or name another place with \"publish\" in the daemon's"
              + " configuration and HEDDLE_ROUTES for the jobs",
          failure);
    }
  }

  private static void fill(FileChannel file, long bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(bytes, ZEROS_BYTES));
    long written = 0;
    while (written < bytes) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - written));
      written += file.write(zeros);
    }
  }

  /**
   * @return null where there is no file
   * @throws HeddleException for a file that isn't one of routes, or can't be read
   */
  static @Nullable RoutesMap open(Path path, FileChannel.MapMode mode) {
    Set<StandardOpenOption> options =
        mode == FileChannel.MapMode.READ_WRITE
            ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
            : Set.of(StandardOpenOption.READ);
    /* Asked before opening: a file that takes the name in between is then found to be another, and opened again. */
    Object identity = identity(path);
    try {
      FileChannel file = FileChannel.open(path, options);
      try {
        return open(path, file, mode, identity);
      } catch (IOException | RuntimeException failure) {
        file.close();
        throw failure;
      }
    } catch (NoSuchFileException none) {
      return null;
    } catch (IOException failure) {
      throw new HeddleException(
          "the routes file " + path + " can't be read: " + FileFailure.reason(failure), failure);
    }
  }

  private static RoutesMap open(
      Path path, FileChannel file, FileChannel.MapMode mode, @Nullable Object identity)
      throws IOException {
    ByteBuffer header =
        ByteBuffer.allocate(RoutesLayout.HEADER_BYTES).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    int there = file.read(header, 0);
    int cells = there < RoutesLayout.HEADER_BYTES ? 0 : header.getInt(RoutesLayout.CELLS);
    int slots = there < RoutesLayout.HEADER_BYTES ? 0 : header.getInt(RoutesLayout.SLOTS);
    if (there < RoutesLayout.HEADER_BYTES
        || header.getLong(0) != RoutesLayout.MAGIC
        || cells < 1
        || cells > RoutesLayout.MAX_PLANES
        || slots < 1
        || Integer.bitCount(slots) != 1
        || header.getInt(RoutesLayout.SLOT_BYTES) != RoutesLayout.slotBytes(cells)
        || file.size() < RoutesLayout.fileBytes(cells, slots)) {
      throw new HeddleException(
          path
              + " is no routes file of this release; run the same release of Heddle for the"
              + " daemon and the jobs");
    }
    return new RoutesMap(path, file, mode, identity, cells, slots);
  }

  /** What tells the file under this name from its successors; null where there is none. */
  static @Nullable Object identity(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    } catch (IOException none) {
      return null;
    }
  }

  /**
   * Whether all that is mapped is there. Beyond a file's end there is no memory: a load or store
   * there is a SIGBUS, of which the Java machine makes an InternalError, if the host process leaves
   * it the signal. So this is asked before and after, and costs a system call.
   */
  boolean isWhole() {
    try {
      return file.size() >= bytes;
    } catch (IOException closed) {
      return false;
    }
  }

  /**
   * @throws RoutesCutException unless {@link #isWhole}
   */
  void requireWhole() {
    if (!isWhole()) {
      throw cut(null);
    }
  }

  RoutesCutException cut(@Nullable InternalError fault) {
    return new RoutesCutException(path, fault);
  }

  long slot(int index) {
    return firstSlot + (long) index * slotBytes;
  }

  /**
   * The slot of a prefix.
   *
   * @return its address; where the prefix isn't there, the complement of the address of the free
   *     slot that it would take. A reader that is overtaken by the writer may get anything
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
   * Frees a slot and closes the gap in its chain, so that look-ups may stop at the first free slot.
   * The writer only.
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
      /* It may move back unless its home lies behind the gap. */
      if ((index - home & slots - 1) >= (index - gap & slots - 1)) {
        Memory.copy(next, slot(gap), slotBytes);
        gap = index;
      }
    }
    Memory.clear(slot(gap), slotBytes);
  }

  @Override
  public void close() {
    arena.close();
    try {
      file.close();
    } catch (IOException gone) {
      /* The descriptor is gone either way. */
    }
  }
}
