package io.heddle.stats;

import io.heddle.platform.Errno;
import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/**
 * The planes that an operator wants nothing new on: a text file with a plane's key in each line,
 * {@code drained} in the folder of the processes' statistics. Every process of that folder follows
 * it within a tenth of a second, and those that start later do so from their start. It counts where
 * it is a regular file of the job's user or of root that nobody else may write to.
 *
 * @param file whether it exists or not
 * @param givers numbers of the users whose orders count; root's always do
 */
public record DrainOrders(Path file, Set<Integer> givers) {
  private static final String NAME = "drained";
  private static final String UNFINISHED = NAME + ".new";
  private static final int MODE = 0644;
  private static final int LARGEST_BYTES = 1 << 16;

  /** The orders for the processes whose statistics lie in this folder, for who looks at them. */
  public static DrainOrders in(Path folder) {
    Set<Integer> givers = new TreeSet<>(Set.of(LinuxCalls.geteuid()));
    FileStatus status = OpenFolder.look(folder);
    if (status != null) {
      givers.add(status.owner());
    }
    return new DrainOrders(folder.resolve(NAME), givers);
  }

  /** The orders that this process follows where its statistics lie in this folder. */
  public static DrainOrders toThisProcess(Path folder) {
    return new DrainOrders(folder.resolve(NAME), Set.of(LinuxCalls.geteuid()));
  }

  /**
   * The keys, in order.
   *
   * @throws HeddleException when there is a file that can't be read or doesn't count
   */
  public Set<String> keys() {
    try (OpenFolder folder = OpenFolder.around(file);
        OpenFile orders = folder.open(NAME, false)) {
      FileStatus status = orders.status();
      if (status.owner() != FileStatus.ROOT && !givers.contains(status.owner())
          || status.isWritableByOthers()) {
        throw new HeddleException(
            "the drained planes in %s don't count: it is %s, and only the job's user (%s) and root may give such orders"
                .formatted(file, status.describe(), numbers()));
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

  private String numbers() {
    return String.join(", ", givers.stream().map(Integer::toUnsignedString).toList());
  }

  /**
   * Replaces the orders, whole or not at all.
   *
   * @throws HeddleException when the file can't be written, e.g. because it is another user's
   */
  public void write(Set<String> keys) {
    try (OpenFolder folder = OpenFolder.around(file)) {
      if (keys.isEmpty()) {
        folder.remove(NAME);
        return;
      }
      folder.remove(UNFINISHED);
      try (OpenFile next = folder.create(UNFINISHED, MODE)) {
        next.setMode(MODE); // root's orders are the job's to read, whatever root's umask
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
              + "; only its user and root may",
          failure);
    }
  }
}
