package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Comparison of the bytes that jobs send over each plane with the bytes that the kernel sends on
 * each interface in the same period.
 */
final class StrayBytes {
  /* Fewer bytes can't be distinguished from other traffic of the host. */
  static final long ENOUGH_BYTES = 4L << 20;

  /* Counters of this network namespace; /sys may show another one's. */
  private static final Path COUNTERS = Path.of("/proc/self/net/dev");
  private static final int SENT_COLUMN = 9;

  /**
   * Plane whose bytes leave by another interface than its address's.
   *
   * @param bytes sent over the plane
   * @param own interface of its address
   * @param ownBytes sent by that interface
   * @param other interface with the most bytes that its own planes don't explain
   * @param otherBytes sent by that interface
   */
  record Stray(
      String plane, long bytes, String own, long ownBytes, String other, long otherBytes) {}

  private StrayBytes() {}

  /** Returns the bytes that each interface has sent since its creation. */
  static Map<String, Long> byInterface() throws IOException {
    return parse(Files.readAllLines(COUNTERS));
  }

  /*
   * Two heading lines; then a name, a colon, eight columns received and eight sent (proc_net(5)).
   */
  static Map<String, Long> parse(List<String> lines) {
    Map<String, Long> sent = new HashMap<>();
    for (String line : lines) {
      int colon = line.lastIndexOf(':');
      if (colon > 0) {
        String[] columns = line.substring(colon + 1).strip().split(" +");
        sent.put(line.substring(0, colon).strip(), Long.parseLong(columns[SENT_COLUMN - 1]));
      }
    }
    return sent;
  }

  /** Returns the growth of each count; a count that fell belongs to a removed object. */
  static Map<String, Long> added(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> added = new HashMap<>();
    after.forEach(
        (name, bytes) -> added.put(name, Math.max(0, bytes - before.getOrDefault(name, bytes))));
    return added;
  }

  /**
   * Returns the planes whose bytes leave by another interface than their address's. The loopback
   * interface doesn't count as another, since it carries the traffic between ranks of this host.
   *
   * @param planes bytes by plane
   * @param interfaces interface of each plane's address, by plane
   * @param sent bytes by interface
   */
  static List<Stray> find(
      Map<String, Long> planes, Map<String, String> interfaces, Map<String, Long> sent) {
    Map<String, Long> explained = new HashMap<>();
    planes.forEach((plane, bytes) -> {
      String own = interfaces.get(plane);
      if (own != null) {
        explained.merge(own, bytes, Long::sum);
      }
    });
    List<Stray> strays = new ArrayList<>();
    planes.forEach((plane, bytes) -> {
      String own = interfaces.get(plane);
      if (own == null || bytes < ENOUGH_BYTES) {
        return;
      }
      long ownBytes = sent.getOrDefault(own, 0L);
      if (ownBytes >= explained.getOrDefault(own, 0L) / 2) {
        return;
      }
      sent.entrySet().stream()
          .filter(each -> !each.getKey().equals(own) && !each.getKey().equals("lo"))
          .filter(each -> each.getValue() - explained.getOrDefault(each.getKey(), 0L) >= bytes / 2)
          .max(Map.Entry.comparingByValue())
          .ifPresent(other ->
              strays.add(new Stray(plane, bytes, own, ownBytes, other.getKey(), other.getValue())));
    });
    return strays;
  }
}
