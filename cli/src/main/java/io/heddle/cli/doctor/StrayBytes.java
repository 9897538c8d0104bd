package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Comparison of the bytes that jobs sent over each plane with the bytes that each interface sent in
 * the same period.
 */
final class StrayBytes {
  /* With fewer bytes, a plane's traffic can't be distinguished from the host's other traffic. */
  static final long ENOUGH_BYTES = 4L << 20;

  /* Counters of this process's network namespace. /sys may show those of another namespace. */
  private static final Path COUNTERS = Path.of("/proc/self/net/dev");
  private static final int SENT_COLUMN = 9;

  /**
   * Plane whose bytes leave by another interface than that of the plane's address.
   *
   * @param bytes bytes that jobs sent over the plane
   * @param own interface of the plane's address
   * @param ownBytes bytes that this interface sent
   * @param other interface by which the bytes probably leave: of the interfaces that sent many more
   *     bytes than their own planes, the one that sent most
   * @param otherBytes bytes that the other interface sent
   */
  record Stray(
      String plane, long bytes, String own, long ownBytes, String other, long otherBytes) {}

  private StrayBytes() {}

  /** Returns the bytes that each interface has sent since its creation. */
  static Map<String, Long> byInterface() throws IOException {
    return parse(Files.readAllLines(COUNTERS));
  }

  /*
   * Returns the sent bytes by interface. The file has two heading lines. Each other line has an
   * interface's name, a colon, eight columns for receiving and eight for sending (proc_net(5)).
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

  /**
   * Returns the growth of each count. A count falls if another interface or job has taken over the
   * name; its growth is then 0.
   */
  static Map<String, Long> added(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> added = new HashMap<>();
    after.forEach(
        (name, bytes) -> added.put(name, Math.max(0, bytes - before.getOrDefault(name, bytes))));
    return added;
  }

  /**
   * Returns the planes whose bytes leave by another interface than that of the plane's address. The
   * loopback interface doesn't count as another one, since it carries the traffic between ranks of
   * this host.
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
