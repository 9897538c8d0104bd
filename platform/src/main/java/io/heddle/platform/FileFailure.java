package io.heddle.platform;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Formatter of the reasons for failed file accesses, for users. Java's own message is often only
 * the file's name.
 */
public final class FileFailure {
  private FileFailure() {}

  /**
   * Returns the reason as a clause. Error messages put the clause behind the file's name and a
   * colon.
   */
  public static String reason(IOException failure) {
    return switch (failure) {
      case NoSuchFileException none -> "it doesn't exist";
      case NotDirectoryException file -> "it isn't a directory";
      case AccessDeniedException denied -> "permission denied";
      case FileAlreadyExistsException there -> "it exists already";
      case MalformedInputException bytes -> "it isn't text in UTF-8";
      case IOException full when OpenFiles.isLimit(full) -> full();
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }

  /** Returns the reason for a failed system call. */
  public static String reason(SystemCallException failure) {
    return switch (failure.errno()) {
      case Errno.ENOENT -> "it doesn't exist";
      case Errno.ENOTDIR -> "it isn't a directory, or it is a link, which isn't followed";
      case Errno.ELOOP -> "it is a link, which isn't followed";
      case Errno.EINVAL -> "it isn't a regular file";
      case Errno.EACCES, Errno.EPERM -> "permission denied";
      case Errno.EEXIST -> "it exists already";
      case Errno.EISDIR -> "it is a directory";
      case Errno.ENOSPC -> "No space left on device";
      case Errno.EDQUOT -> "this user's disk quota is exceeded";
      case Errno.EROFS -> "Read-only file system";
      case Errno.EMFILE -> full();
      case Errno.ENFILE -> "the host has reached its limit of open files (fs.file-max)";
      default -> String.valueOf(failure.getMessage());
    };
  }

  private static String full() {
    return "this process has reached its limit of open files (ulimit -n is %s)"
        .formatted(OpenFiles.limit());
  }
}
