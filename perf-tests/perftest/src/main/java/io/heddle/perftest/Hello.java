package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * First record between two Heddle ends, which they exchange before they create queue pairs. Thus
 * incompatible options lead to an error message instead of a hang. The record has lines of {@code
 * name=value}; unknown names are ignored.
 *
 * @param test name of the test
 * @param sizeBytes length of a message, the largest with {@code -a}
 * @param seconds length of the test, or 0 if its length is a number of messages
 * @param queuePairs number of queue pairs per plane
 * @param planesRequested whether this end was started with planes
 * @param mostPlanes largest number of planes that this end uses
 * @param planes keys of the planes that this end could use, in order
 */
record Hello(
    String test,
    long sizeBytes,
    boolean allSizes,
    long iterations,
    int seconds,
    int queuePairs,
    boolean bidirectional,
    boolean gigabits,
    boolean planesRequested,
    int mostPlanes,
    List<String> planes) {

  static Hello of(Settings settings, List<String> planes) {
    Settings.Traffic traffic = settings.traffic();
    return new Hello(
        settings.kind().commandName(),
        traffic.sizeBytes(),
        traffic.allSizes(),
        traffic.iterations(),
        traffic.durationSeconds(),
        traffic.queuePairs(),
        traffic.bidirectional(),
        settings.output().gigabits(),
        settings.planes().requested(),
        settings.planes().most(),
        planes);
  }

  byte[] encode() {
    Map<String, Object> lines = new LinkedHashMap<>();
    lines.put("test", test);
    lines.put("size", sizeBytes);
    lines.put("all", allSizes);
    lines.put("iterations", iterations);
    lines.put("seconds", seconds);
    lines.put("queue-pairs", queuePairs);
    lines.put("bidirectional", bidirectional);
    lines.put("gigabits", gigabits);
    lines.put("planes-asked", planesRequested);
    lines.put("most-planes", mostPlanes);
    lines.put("planes", String.join(" ", planes));
    StringBuilder text = new StringBuilder();
    lines.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * @throws HeddleException if the text is malformed
   */
  static Hello decode(byte[] bytes, String peer) {
    Map<String, String> lines = new LinkedHashMap<>();
    for (String line : new String(bytes, StandardCharsets.UTF_8).split("\n", -1)) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        lines.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    try {
      String keys = value(lines, "planes");
      return new Hello(
          value(lines, "test"),
          Long.parseLong(value(lines, "size")),
          Boolean.parseBoolean(value(lines, "all")),
          Long.parseLong(value(lines, "iterations")),
          Integer.parseInt(value(lines, "seconds")),
          Integer.parseInt(value(lines, "queue-pairs")),
          Boolean.parseBoolean(value(lines, "bidirectional")),
          Boolean.parseBoolean(value(lines, "gigabits")),
          Boolean.parseBoolean(value(lines, "planes-asked")),
          Integer.parseInt(value(lines, "most-planes")),
          keys.isEmpty() ? List.of() : List.of(keys.split(" ")));
    } catch (NumberFormatException malformed) {
      throw new HeddleException(
          peer + " sent a malformed hello: " + malformed.getMessage(), malformed);
    }
  }

  private static String value(Map<String, String> lines, String name) {
    String value = lines.get(name);
    if (value == null) {
      throw new NumberFormatException("it has no " + name);
    }
    return value;
  }

  /**
   * @param server whether this record is the server's
   * @throws HeddleException that names the first incompatible option
   */
  void requireFits(Hello peer, boolean server) {
    same("test", test, peer.test, server);
    same("-a", allSizes, peer.allSizes, server);
    same("-s", sizeBytes, peer.sizeBytes, server);
    same("-q", queuePairs, peer.queuePairs, server);
    same("-b", bidirectional, peer.bidirectional, server);
    if (!test.equals(TestKind.WRITE_BW.commandName())
        && !test.equals(TestKind.READ_BW.commandName())) {
      same("-D", seconds, peer.seconds, server);
      same("-n", iterations, peer.iterations, server);
    }
  }

  private static void same(String option, Object own, Object theirs, boolean server) {
    if (!own.equals(theirs)) {
      throw new HeddleException(
          "the ends are incompatible: %s is %s at the server and %s at the client; use the same"
              .formatted(option, server ? own : theirs, server ? theirs : own));
    }
  }
}
