package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Status of a file: struct statx of linux/stat.h, whose layout is the same on all architectures.
 *
 * @param mode type and permissions, as in st_mode
 * @param owner user id
 * @param device id of the file system
 * @param inode id of the file within its file system
 */
public record FileStatus(int mode, int owner, long sizeBytes, long device, long inode) {
  private static final int STATX_BYTES = 256;
  private static final int OWNER = 20;
  private static final int MODE = 28;
  private static final int INODE = 32;
  private static final int SIZE = 40;
  private static final int DEVICE = 136;

  private static final int KIND = 0170000;
  private static final int FOLDER = 0040000;
  private static final int REGULAR = 0100000;
  private static final int LINK = 0120000;
  private static final int SOCKET = 0140000;
  private static final int OTHERS_MAY_WRITE = 0022;
  private static final int STICKY = 01000;

  /** User id of root. */
  public static final int ROOT = 0;

  /** Reads the status of an open descriptor. */
  static FileStatus of(int fd) {
    return of(fd, "");
  }

  /**
   * Reads the status of a file in an open directory; a symbolic link isn't followed.
   *
   * @throws SystemCallException with ENOENT if there is no such file
   */
  static FileStatus of(int folder, String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = arena.allocate(STATX_BYTES, Long.BYTES);
      int result = FileCalls.statx(folder, name, found.address());
      if (result < 0) {
        throw new SystemCallException("statx " + name, -result);
      }
      return new FileStatus(
          Short.toUnsignedInt(found.get(JAVA_SHORT, MODE)),
          found.get(JAVA_INT, OWNER),
          found.get(JAVA_LONG, SIZE),
          found.get(JAVA_LONG, DEVICE),
          found.get(JAVA_LONG, INODE));
    }
  }

  public boolean isFolder() {
    return (mode & KIND) == FOLDER;
  }

  public boolean isRegular() {
    return (mode & KIND) == REGULAR;
  }

  public boolean isLink() {
    return (mode & KIND) == LINK;
  }

  public boolean isSocket() {
    return (mode & KIND) == SOCKET;
  }

  /** Returns whether the file's group or everybody may write to the file. */
  public boolean isWritableByOthers() {
    return (mode & OTHERS_MAY_WRITE) != 0;
  }

  /** Returns whether other users may remove or replace files of this directory. */
  public boolean isOpenToOthers() {
    return isWritableByOthers() && (mode & STICKY) == 0;
  }

  /** Returns the permissions without write access of group and others. */
  int withoutOthersWriting() {
    return mode & ~(KIND | OTHERS_MAY_WRITE);
  }

  public boolean isSameFile(FileStatus other) {
    return device == other.device && inode == other.inode;
  }

  /**
   * Describes type, owner and mode for an error message: {@code a folder of user 1000, mode 755}.
   */
  public String describe() {
    String kind =
        isFolder() ? "a folder" : isRegular() ? "a file" : isLink() ? "a link" : "no file";
    return kind
        + " of user "
        + Integer.toUnsignedString(owner)
        + (isLink() ? "" : ", mode " + Integer.toOctalString(mode & ~KIND));
  }
}
