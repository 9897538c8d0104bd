package io.heddle.platform;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import org.jspecify.annotations.Nullable;

/**
 * Open directory with access to its files by name. Names always refer to this directory, even if
 * another one takes its path. Symbolic links aren't followed. Only regular files are opened, since
 * the open of a pipe could block for ever. Failures are {@link SystemCallException}s with the
 * errno.
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
   * Opens a directory; its name must not be a link.
   *
   * @throws SystemCallException with ELOOP or ENOTDIR for a link, ENOENT if there is no such
   *     directory
   */
  public static OpenFolder open(Path path) {
    int fd =
        FileCalls.openat(FileCalls.AT_FDCWD, path.toString(), OPENED | FileCalls.O_DIRECTORY, 0);
    if (fd < 0) {
      throw new SystemCallException("open " + path, -fd);
    }
    return new OpenFolder(path, fd);
  }

  /** Opens the directory of a file. The file needn't exist. */
  public static OpenFolder parentOf(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    return open(folder == null ? Path.of("/") : folder);
  }

  /**
   * Creates the missing directories above a file.
   *
   * @throws IOException whose reason names the directory, if it is another kind of file
   */
  public static void createAbove(Path file, FileAttribute<?>... attributes) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    try {
      if (folder != null) {
        Files.createDirectories(folder, attributes);
      }
    } catch (FileAlreadyExistsException there) {
      throw new IOException(there.getFile() + " isn't a directory", there);
    }
  }

  /**
   * Creates a directory.
   *
   * @param mode permissions, reduced by the umask
   * @return false if the name exists already
   */
  public static boolean createIfMissing(Path path, int mode) {
    int result = FileCalls.mkdirat(FileCalls.AT_FDCWD, path.toString(), mode);
    if (result < 0 && result != -Errno.EEXIST) {
      throw new SystemCallException("mkdir " + path, -result);
    }
    return result == 0;
  }

  /**
   * Returns the status of a path, or null if it doesn't exist. For a link, returns the status of
   * the link itself.
   */
  public static @Nullable FileStatus statusOf(Path path) {
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

  /** Returns whether only root and this process's user can replace files of this directory. */
  public boolean isSafe() {
    FileStatus status = status();
    return (status.owner() == FileStatus.ROOT || status.owner() == ProcessCalls.geteuid())
        && !status.isOpenToOthers();
  }

  /** Removes the directory's write permission for all except its owner. */
  public void denyWriteToOthers() {
    int result = FileCalls.fchmod(fd, status().withoutOthersWriting());
    if (result < 0) {
      throw new SystemCallException("fchmod " + path, -result);
    }
  }

  /**
   * Creates a new file, for reading and writing.
   *
   * @param mode permissions, reduced by the umask
   * @throws SystemCallException with EEXIST if the name exists, even as a link
   */
  public OpenFile create(String name, int mode) {
    return opened(name, FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_EXCL, mode);
  }

  /**
   * Opens a file for reading and writing, or creates it.
   *
   * @param mode permissions, reduced by the umask
   */
  public OpenFile openOrCreate(String name, int mode) {
    return opened(name, FileCalls.O_RDWR | FileCalls.O_CREAT, mode);
  }

  /**
   * Opens an existing file.
   *
   * @throws SystemCallException with ELOOP for a link, EINVAL if it isn't a regular file
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

  /** Renames a file. If a file has the new name, it is replaced. */
  public void rename(String from, String to) {
    int result = FileCalls.renameat(fd, from, to);
    if (result < 0) {
      throw new SystemCallException("rename " + path.resolve(from), -result);
    }
  }

  /**
   * Removes a name: a file, or a link but not its target. It isn't a failure if the name doesn't
   * exist.
   */
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
