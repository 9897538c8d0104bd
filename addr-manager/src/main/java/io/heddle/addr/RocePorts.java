package io.heddle.addr;

import io.heddle.platform.HeddleException;
import org.jspecify.annotations.Nullable;

/**
 * UDP ports on which the soft devices of a host receive: each process takes the first port that is
 * free on its address. All ranks of a host share one range, which a firewall can admit and a
 * gateway can recognise. The first port is usually RoCEv2's own, to which standard devices send.
 *
 * @param first first port of the range: RoCEv2's own, unless the operator sets another
 * @param last last port of the range, at least {@code first}
 */
public record RocePorts(int first, int last) {
  public static final String VARIABLE = "HEDDLE_PORTS";

  /** RoCEv2's UDP port (annex A17). */
  public static final int ROCE_V2 = 4791;

  /** Number of ports in the default range, and so the largest number of ranks of a host. */
  public static final int COUNT = 64;

  public static final RocePorts STANDARD = new RocePorts(ROCE_V2, ROCE_V2 + COUNT - 1);

  private static final int LEAST = 1024;
  private static final int MOST = 0xffff;

  /**
   * Parses a port or a range. Returns {@link #STANDARD} for a null or blank value.
   *
   * @throws HeddleException for a malformed value
   */
  public static RocePorts parse(@Nullable String value) {
    if (value == null || value.isBlank()) {
      return STANDARD;
    }
    String[] ends = value.strip().split("-", -1);
    if (ends.length <= 2
        && ends[0].matches("[0-9]{1,5}")
        && ends[ends.length - 1].matches("[0-9]{1,5}")) {
      RocePorts ports =
          new RocePorts(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
      if (ports.first >= LEAST && ports.last <= MOST && ports.first <= ports.last) {
        return ports;
      }
    }
    throw new HeddleException(
        "%s=%s: allowed is a range of ports from %s to %s, such as %s"
            .formatted(VARIABLE, value, LEAST, MOST, STANDARD));
  }

  public boolean contains(int port) {
    return first <= port && port <= last;
  }

  public int count() {
    return last - first + 1;
  }

  @Override
  public String toString() {
    return first == last ? Integer.toString(first) : first + "-" + last;
  }
}
