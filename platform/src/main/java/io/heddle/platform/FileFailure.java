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
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }
}
