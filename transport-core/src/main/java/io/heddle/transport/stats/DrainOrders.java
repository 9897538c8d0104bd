package io.heddle.transport.stats;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.TreeSet;

/**
 * The planes that an operator wants nothing new on: a text file with a plane's key in each line,
 * {@code drained} in the folder of the processes' statistics. Every process of that folder follows
 * it within a tenth of a second, and those that start later do so from their start.
 *
 * @param file whether it exists or not
 */
public record DrainOrders(Path file) {
  /** The orders for the processes whose statistics lie in this folder. */
  public static DrainOrders in(Path folder) {
    return new DrainOrders(folder.resolve("drained"));
  }

  /** The orders for the process with these statistics. */
  public static DrainOrders beside(Path statistics) {
    return new DrainOrders(statistics.resolveSibling("drained"));
  }

  /**
   * The keys, in order.
   *
   * @throws HeddleException when there is a file that can't be read
   */
  public Set<String> keys() {
    Set<String> keys = new TreeSet<>();
    try {
      Files.readAllLines(file).stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty())
          .forEach(keys::add);
    } catch (NoSuchFileException none) {
      return Set.of();
    } catch (IOException failure) {
      throw new HeddleException(
          "the drained planes can't be read from " + file + ": " + FileFailure.reason(failure),
          failure);
    }
    return keys;
  }

  /**
   * Replaces the orders, whole or not at all.
   *
   * @throws HeddleException when the file can't be written, e.g. because it is another user's
   */
  public void write(Set<String> keys) {
    Path next = file.resolveSibling("drained.new");
    try {
      if (keys.isEmpty()) {
        Files.deleteIfExists(file);
        return;
      }
      Files.write(next, new TreeSet<>(keys));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failure) {
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
