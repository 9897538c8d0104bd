package io.heddle.cli.stat;

import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reader of the folders in which processes write their statistics. */
public final class StatsFolders {
  static final Path SHARED_MEMORY = Path.of("/dev/shm");
  static final String PREFIX = "heddle-";

  private final @Nullable Path named;
  private final Path sharedMemory;
  private final Users users;

  /** Users whose folders are read. */
  private enum Users {
    ALL,
    /* For root, all users; for another user, only this user. */
    CONTROLLED,
    OWN
  }

  /** Statistics that were read, and a sentence about each file that couldn't be. */
  public record Found(List<ProcessStats> processes, List<String> unreadable) {}

  /**
   * Creates a reader.
   *
   * @param named the only folder to read; null for the usual folders
   */
  public StatsFolders(@Nullable Path named) {
    this(named, SHARED_MEMORY, Users.ALL);
  }

  private StatsFolders(@Nullable Path named, Path sharedMemory, Users users) {
    this.named = named;
    this.sharedMemory = sharedMemory;
    this.users = users;
  }

  /**
   * Returns a reader of the usual folders, but in this folder instead of shared memory; for tests.
   */
  static StatsFolders in(Path sharedMemory) {
    return new StatsFolders(null, sharedMemory, Users.ALL);
  }

  /**
   * Returns a reader of the jobs that this user may control: all jobs for root, else the user's
   * own.
   */
  public StatsFolders ofOwnJobs() {
    return new StatsFolders(named, sharedMemory, Users.CONTROLLED);
  }

  /** Returns a reader of this user's jobs only, for root too. */
  StatsFolders ofThisUser() {
    return new StatsFolders(named, sharedMemory, Users.OWN);
  }

  private boolean isRead(long owner) {
    long user = ProcessCalls.geteuid();
    return owner == user
        || users == Users.ALL
        || users == Users.CONTROLLED && user == FileStatus.ROOT;
  }

  /** Lists the folders that exist now. Each call searches again, since jobs start and end. */
  public List<Path> folders() {
    return folders(new ArrayList<>());
  }

  /*
   * Lists the folders. Every user may create names in shared memory, so a folder to which others
   * may write could contain forged statistics, and a link could point anywhere. Such folders and
   * links are skipped and reported.
   */
  private List<Path> folders(List<String> ignored) {
    if (named != null) {
      return List.of(named);
    }
    List<Path> folders = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(sharedMemory, PREFIX + "*")) {
      for (Path each : entries) {
        FileStatus status = OpenFolder.statusOf(each);
        if (status == null || !isRead(status.owner())) {
          continue;
        }
        if (status.isRegular() && RunNotice.isNotice(each)) {
          folders.addAll(RunNotice.read(each));
        } else if (!status.isFolder() || status.isWritableByOthers()) {
          ignored.add(each + " is skipped: it is " + status.describe());
        } else if (status.owner() == ProcessCalls.geteuid() || Files.isReadable(each)) {
          folders.add(each);
        }
      }
    } catch (IOException | DirectoryIteratorException none) {
      /* Without shared memory there are no jobs. */
    }
    return folders;
  }

  /**
   * Returns the statistics of processes, sorted by process number.
   *
   * @param processId number of the only process to return; null for all
   * @throws HeddleException if the named folder can't be read
   */
  public Found read(@Nullable Long processId) {
    List<ProcessStats> processes = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    for (Path folder : folders(unreadable)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
        for (Path file : files) {
          add(file, processId, processes, unreadable);
        }
      } catch (IOException failure) {
        if (named != null) {
          throw new HeddleException(unreadable(folder, failure), failure);
        }
        unreadable.add(unreadable(folder, failure));
      }
    }
    processes.sort(Comparator.comparingLong(ProcessStats::processId));
    return new Found(processes, unreadable);
  }

  /**
   * Returns the statistics of processes that still run. {@link #read} also returns ended ones,
   * whose files stay until another job starts. Of several files with one PID and namespace, only
   * the newest is returned, and the others are reported as unreadable.
   */
  public Found running() {
    Found all = read(null);
    List<String> unreadable = new ArrayList<>(all.unreadable());
    Map<String, ProcessStats> newest = new LinkedHashMap<>();
    for (ProcessStats process : all.processes()) {
      if (StatsReader.hasEnded(process.file())) {
        continue;
      }
      String namespace = process.namespace();
      String identity =
          process.processId() + "." + (namespace.isEmpty() ? process.file() : namespace);
      ProcessStats other = newest.get(identity);
      if (other == null) {
        newest.put(identity, process);
        continue;
      }
      boolean isNewer = process.startMs() > other.startMs();
      newest.put(identity, isNewer ? process : other);
      unreadable.add(
          (isNewer ? other : process).file()
              + " is skipped: "
              + (isNewer ? process : other).file()
              + " is of the same process, and newer");
    }
    return new Found(List.copyOf(newest.values()), unreadable);
  }

  /** Returns the message for a folder whose statistics can't be read, with the reason. */
  public static String unreadable(Path folder, IOException failure) {
    return "statistics can't be read from " + folder + ": " + FileFailure.reason(failure);
  }

  private static void add(
      Path file, @Nullable Long processId, List<ProcessStats> processes, List<String> unreadable) {
    try {
      ProcessStats stats = StatsReader.snapshot(file);
      if (processId == null || stats.processId() == processId) {
        processes.add(stats);
      }
    } catch (HeddleException failure) {
      if (Files.exists(file)) { // else its process ended meanwhile
        unreadable.add(String.valueOf(failure.getMessage()));
      }
    }
  }

  /** Returns the exception for missing statistics of this process, or of all processes if null. */
  HeddleException missingStatistics(@Nullable Long processId) {
    return new HeddleException(
        processId == null
            ? noProcessText()
            : "process " + processId + " has left no statistics in " + foldersAndOption());
  }

  String noProcessText() {
    return "no process with Heddle's plugin has left statistics in " + foldersAndOption();
  }

  private String foldersAndOption() {
    return description() + "; --stats names another folder";
  }

  /** Returns the paths of the folders, as part of a sentence. */
  String description() {
    List<Path> folders = folders();
    return folders.isEmpty()
        ? sharedMemory + "/" + PREFIX + "*"
        : String.join(", ", folders.stream().map(Path::toString).toList());
  }
}
