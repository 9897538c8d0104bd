package io.heddle.platform;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An open folder, and files in it by their names: whatever is put in its place, these are of the
 * folder that was looked at. No name is followed where it is a link, and nothing but regular files
 * is opened: a pipe under a file's name would keep who opens it for ever. What fails is a {@link
 * SystemCallException} with its errno.
 */
public final class OpenFolder implements AutoCloseable {
  private static final int OPENED = FileCalls.O_CLOEXEC | FileCalls.O_NOFOLLOW;

  private final Path path;
  private int fd;

  private OpenFolder(Path path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Opens a folder whose name is no link.
   *
   * @throws SystemCallException with ELOOP or ENOTDIR for a link, ENOENT where there is none
   */
  public static OpenFolder open(Path path) {
    int fd =
        FileCalls.openat(FileCalls.AT_FDCWD, path.toString(), OPENED | FileCalls.O_DIRECTORY, 0);
    if (fd < 0) {
      throw new SystemCallException("open " + path, -fd);
    }
    return new OpenFolder(path, fd);
  }

  /** Opens the folder that a file lies in, whether there is that file or not. */
  public static OpenFolder around(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    return open(folder == null ? Path.of("/") : folder);
  }

  /**
   * Makes a folder, less what the umask takes.
   *
   * @return false where the name is taken
   */
  public static boolean make(Path path, int mode) {
    int result = FileCalls.mkdirat(FileCalls.AT_FDCWD, path.toString(), mode);
    if (result < 0 && result != -Errno.EEXIST) {
      throw new SystemCallException("mkdir " + path, -result);
    }
    return result == 0;
  }

  /** What there is under a path, itself where it is a link; null where there is nothing. */
  public static @Nullable FileStatus look(Path path) {
    try {
      return FileStatus.of(FileCalls.AT_FDCWD, path.toString());
    } catch (SystemCallException failure) {
      if (failure.errno() == Errno.ENOENT || failure.errno() == Errno.ENOTDIR) {
        return null;
      }
      throw failure;
    }
  }

  public Path path() {
    return path;
  }

  public FileStatus status() {
    return FileStatus.of(fd);
  }

  /**
   * Whether nobody but root and this process's user can put other files in the place of those here.
   */
  public boolean isSafe() {
    FileStatus status = status();
    return (status.owner() == FileStatus.ROOT || status.owner() == LinuxCalls.geteuid())
        && !status.isOpenToOthers();
  }

  /** Takes the right to write to it from all but its owner. */
  public void closeToOthers() {
    int result = FileCalls.fchmod(fd, status().withoutOthersWriting());
    if (result < 0) {
      throw new SystemCallException("fchmod " + path, -result);
    }
  }

  /**
   * Makes a file that wasn't there, for reading and writing.
   *
   * @param mode less what the umask takes
   * @throws SystemCallException with EEXIST where the name is taken, by a link too
   */
  public OpenFile create(String name, int mode) {
    return opened(name, FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_EXCL, mode);
  }

  /**
   * Opens a file, for reading and writing, or makes it.
   *
   * @param mode less what the umask takes
   */
  public OpenFile openOrCreate(String name, int mode) {
    return opened(name, FileCalls.O_RDWR | FileCalls.O_CREAT, mode);
  }

  /**
   * Opens a file that is there.
   *
   * @throws SystemCallException with ELOOP for a link, EINVAL for what is no regular file
   */
  public OpenFile open(String name, boolean writing) {
    return opened(name, writing ? FileCalls.O_RDWR : FileCalls.O_RDONLY, 0);
  }

  private OpenFile opened(String name, int flags, int mode) {
    Path whole = path.resolve(name);
    int opened = FileCalls.openat(fd, name, flags | OPENED | FileCalls.O_NONBLOCK, mode);
    if (opened < 0) {
      throw new SystemCallException("open " + whole, -opened);
    }
    OpenFile file = new OpenFile(whole.toString(), opened);
    try {
      if (!file.status().isRegular()) {
        throw new SystemCallException("open " + whole, Errno.EINVAL);
      }
    } catch (SystemCallException failure) {
      file.close();
      throw failure;
    }
    return file;
  }

  /** Renames, over whatever has the other name. */
  public void rename(String from, String to) {
    int result = FileCalls.renameat(fd, from, to);
    if (result < 0) {
      throw new SystemCallException("rename " + path.resolve(from), -result);
    }
  }

  /** Removes a file, or a link itself; nothing where there is none. */
  public void remove(String name) {
    int result = FileCalls.unlinkat(fd, name);
    if (result < 0 && result != -Errno.ENOENT) {
      throw new SystemCallException("unlink " + path.resolve(name), -result);
    }
  }

  @Override
  public void close() {
    if (fd >= 0) {
      LinuxCalls.close(fd);
      fd = -1;
    }
  }
}
