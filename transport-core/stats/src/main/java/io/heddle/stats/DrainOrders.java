package io.heddle.stats;

import io.heddle.platform.Errno;
import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/**
 * Operator's orders to drain planes: the text file {@code drained} in the folder of the processes'
 * statistics, one plane's key per line. Drained planes get nothing new. Every process with
 * statistics in that folder follows changes of the file within a tenth of a second. The file must
 * be a regular one that belongs to the job's user or to root, and that no other user can write.
 *
 * @param file path of the file, which need not exist
 * @param issuers IDs of the users whose orders are followed; root's always are
 */
public record DrainOrders(Path file, Set<Integer> issuers) {
  private static final String NAME = "drained";
  private static final String UNFINISHED = NAME + ".new";
  private static final int MODE = 0644;
  private static final int LARGEST_BYTES = 1 << 16;

  /**
   * Returns the orders to the processes with statistics in this folder, for a tool that shows or
   * changes them.
   */
  public static DrainOrders in(Path folder) {
    Set<Integer> issuers = new TreeSet<>(Set.of(ProcessCalls.geteuid()));
    FileStatus status = OpenFolder.statusOf(folder);
    if (status != null) {
      issuers.add(status.owner());
    }
    return new DrainOrders(folder.resolve(NAME), issuers);
  }

  /** Returns the orders that this process follows if its statistics are in this folder. */
  public static DrainOrders forThisProcess(Path folder) {
    return new DrainOrders(folder.resolve(NAME), Set.of(ProcessCalls.geteuid()));
  }

  /**
   * Returns the keys of the drained planes, sorted.
   *
   * @throws HeddleException if the file exists but can't be read or isn't trusted
   */
  public Set<String> keys() {
    try (OpenFolder folder = OpenFolder.parentOf(file);
        OpenFile orders = folder.open(NAME, false)) {
      FileStatus status = orders.status();
      if (status.owner() != FileStatus.ROOT && !issuers.contains(status.owner())
          || status.isWritableByOthers()) {
        throw new HeddleException(
            "the drained planes in %s are ignored: it is %s, and only the job's user (%s) and root may give such orders"
                .formatted(file, status.describe(), issuerNumbers()));
      }
      byte[] bytes = orders.read(LARGEST_BYTES);
      Set<String> keys = new TreeSet<>();
      new String(bytes, StandardCharsets.UTF_8)
          .lines()
          .map(String::strip)
          .filter(line -> !line.isEmpty())
          .forEach(keys::add);
      return keys;
    } catch (SystemCallException failure) {
      if (failure.errno() == Errno.ENOENT) {
        return Set.of();
      }
      throw new HeddleException(
          "the drained planes can't be read from " + file + ": " + FileFailure.reason(failure),
          failure);
    }
  }

  private String issuerNumbers() {
    return String.join(", ", issuers.stream().map(Integer::toUnsignedString).toList());
  }

  /**
   * Replaces the orders atomically; removes the file if there are no keys.
   *
   * @throws HeddleException if the file can't be written, e.g. because it is another user's
   */
  public void write(Set<String> keys) {
    try (OpenFolder folder = OpenFolder.parentOf(file)) {
      if (keys.isEmpty()) {
        folder.remove(NAME);
        return;
      }
      folder.remove(UNFINISHED);
      try (OpenFile next = folder.create(UNFINISHED, MODE)) {
        next.setMode(MODE); // the job must read root's orders, whatever root's umask
        next.write(
            (String.join("\n", new TreeSet<>(keys)) + "\n").getBytes(StandardCharsets.UTF_8));
      }
      folder.rename(UNFINISHED, NAME);
    } catch (SystemCallException failure) {
      throw new HeddleException(
          "the drained planes can't be written to "
              + file
              + ": "
              + FileFailure.reason(failure)
              + "; only the file's user and root may write it",
          failure);
    }
  }
}
