package io.heddle.cli.stat;

import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.RandomBytes;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;

/**
 * Notice of a running command that starts jobs: a small file beside the jobs' folders in shared
 * memory, {@code heddle-<user>.run-<process>-<number>}. It names the folder in which the jobs of a
 * command such as {@code demo} write their statistics, so that other commands find them. The
 * command locks the file while it runs, and removes it at its end. A killed command leaves it; the
 * next command removes such files.
 */
public final class RunNotice implements AutoCloseable {
  private static final String MARK = ".run-";
  private static final int MODE = 0644;
  private static final int LONGEST_PATH = 4096;

  /*
   * Levels of subfolders that are searched below the named folder: jobs may have subfolders of
   * their own.
   */
  private static final int DEEPEST = 2;

  private final OpenFolder memory;
  private final OpenFile file;
  private final String name;

  private RunNotice(OpenFolder memory, OpenFile file, String name) {
    this.memory = memory;
    this.file = file;
    this.name = name;
  }

  /**
   * Creates a notice.
   *
   * @param folder folder with the statistics of this process's jobs, directly or in subfolders
   * @throws SystemCallException if the notice can't be created
   */
  public static RunNotice create(Path folder) {
    return create(folder, StatsFolders.SHARED_MEMORY);
  }

  static RunNotice create(Path folder, Path sharedMemory) {
    String user = Integer.toUnsignedString(ProcessCalls.geteuid());
    String name =
        StatsFolders.PREFIX
            + "uid"
            + user
            + MARK
            + ProcessCalls.getpid()
            + "-"
            + Integer.toHexString(RandomBytes.nextBits(31));
    OpenFolder memory = OpenFolder.open(sharedMemory);
    try {
      removeStale(memory);
      RunNotice notice = new RunNotice(memory, memory.create(name, MODE), name);
      notice.write(folder);
      return notice;
    } catch (SystemCallException failure) {
      memory.close();
      throw failure;
    }
  }

  private void write(Path folder) {
    try {
      file.tryLock();
      file.write((folder.toAbsolutePath() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (SystemCallException failure) {
      close();
      throw failure;
    }
  }

  /** Returns a sentence that explains why a notice couldn't be created. */
  public static String failureText(SystemCallException failure) {
    return "heddle stat and its like don't see this command's jobs: %s: %s"
        .formatted(StatsFolders.SHARED_MEMORY, FileFailure.reason(failure));
  }

  /* Removes this user's notices of ended commands. An empty notice is new, and not locked yet. */
  private static void removeStale(OpenFolder memory) {
    try (DirectoryStream<Path> notices =
        Files.newDirectoryStream(memory.path(), StatsFolders.PREFIX + "*" + MARK + "*")) {
      for (Path each : notices) {
        String name = each.getFileName().toString();
        FileStatus status = OpenFolder.statusOf(each);
        if (status != null
            && status.isRegular()
            && status.owner() == ProcessCalls.geteuid()
            && status.sizeBytes() > 0
            && !ProcessCalls.isAlive(process(name))
            && !isLocked(memory, name)) {
          memory.remove(name);
        }
      }
    } catch (IOException | DirectoryIteratorException unreadable) {
      /* A notice that remains takes a page of memory. read() ignores folders without statistics. */
    }
  }

  private static boolean isLocked(OpenFolder memory, String name) {
    try (OpenFile other = memory.open(name, false)) {
      return other.isLocked();
    } catch (SystemCallException goneMeanwhile) {
      return true;
    }
  }

  private static int process(String name) {
    String number = name.substring(name.indexOf(MARK) + MARK.length());
    try {
      return Integer.parseInt(number.substring(0, number.indexOf('-')));
    } catch (NumberFormatException | StringIndexOutOfBoundsException notOurs) {
      return ProcessCalls.getpid(); // a living process, so the notice stays
    }
  }

  static boolean isNotice(Path path) {
    return path.getFileName().toString().contains(MARK);
  }

  /**
   * Returns the named folder and its subfolders, as far as they have statistics. Skips folders that
   * don't belong to the notice's owner.
   */
  static List<Path> read(Path notice) {
    try (OpenFolder memory = OpenFolder.parentOf(notice);
        OpenFile file = memory.open(notice.getFileName().toString(), false)) {
      FileStatus status = file.status();
      String text = new String(file.read(LONGEST_PATH), StandardCharsets.UTF_8).strip();
      if (status.isWritableByOthers() || !text.startsWith("/") || text.indexOf('\0') >= 0) {
        return List.of();
      }
      TreeSet<Path> found = new TreeSet<>();
      collect(Path.of(text), status.owner(), DEEPEST, found);
      return List.copyOf(found);
    } catch (SystemCallException goneMeanwhile) {
      return List.of();
    }
  }

  private static void collect(Path folder, int owner, int deeper, TreeSet<Path> found) {
    FileStatus status = OpenFolder.statusOf(folder);
    if (status == null
        || !status.isFolder()
        || status.owner() != owner
        || status.isWritableByOthers()) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path each : files) {
        if (each.toString().endsWith(".stats")) {
          found.add(folder);
        } else if (deeper > 0 && Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
          collect(each, owner, deeper - 1, found);
        }
      }
    } catch (IOException | DirectoryIteratorException goneOrHidden) {
      /* The job has ended and removed the folder, or this user may not read it. */
    }
  }

  @Override
  public void close() {
    try (memory;
        file) {
      memory.remove(name);
    }
  }

  Path path() {
    return memory.path().resolve(name);
  }
}
