package io.heddle.platform;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Why a file can't be had, in words for people: Java's own message is often the file's name. */
public final class FileFailure {
  private FileFailure() {}

  /** To stand behind the file's name and a colon. */
  public static String reason(IOException failure) {
    return switch (failure) {
      case NoSuchFileException none -> "it doesn't exist";
      case NotDirectoryException file -> "it is no folder";
      case AccessDeniedException denied -> "this user may not";
      case FileAlreadyExistsException there -> "it exists already";
      case MalformedInputException bytes -> "it isn't text in UTF-8";
      case IOException full when OpenFiles.isLimit(full) -> full();
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }

  /** The same of a system call. */
  public static String reason(SystemCallException failure) {
    return switch (failure.errno()) {
      case Errno.ENOENT -> "it doesn't exist";
      case Errno.ENOTDIR -> "it is no folder, or a link to one, which isn't followed";
      case Errno.ELOOP -> "it is a link, which isn't followed";
      case Errno.EINVAL -> "it is no regular file";
      case Errno.EACCES, Errno.EPERM -> "this user may not";
      case Errno.EEXIST -> "it exists already";
      case Errno.ENOSPC -> "No space left on device";
      case Errno.EDQUOT -> "this user's share of the file system is used up";
      case Errno.EROFS -> "Read-only file system";
      case Errno.EMFILE -> full();
      case Errno.ENFILE -> "the host has as many files open as it may";
      default -> String.valueOf(failure.getMessage());
    };
  }

  private static String full() {
    return "this process has as many files open as it may (ulimit -n is %s)"
        .formatted(OpenFiles.limit());
  }
}
