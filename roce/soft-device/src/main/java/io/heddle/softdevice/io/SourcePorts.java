package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.SystemCallException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * UDP source ports configured by {@code HEDDLE_SOURCE_PORTS}, which switches hash to choose among
 * equal-cost links. Immutable.
 */
public final class SourcePorts {
  public static final String VARIABLE = "HEDDLE_SOURCE_PORTS";

  /** Ports chosen by the kernel. */
  public static final SourcePorts ANY = new SourcePorts(new int[0]);

  private static final int FIRST = 1024;
  private static final int LAST = 0xffff;

  private final int[] ports;

  private SourcePorts(int[] ports) {
    this.ports = ports;
  }

  /**
   * Parses ports and ranges, separated by commas; an unset or blank value gives {@link #ANY}.
   *
   * @throws HeddleException that names the invalid part
   */
  public static SourcePorts parse(@Nullable String value) {
    if (value == null || value.isBlank()) {
      return ANY;
    }
    Set<Integer> ports = new LinkedHashSet<>();
    for (String part : value.split(",", -1)) {
      String[] ends = part.strip().split("-", -1);
      if (ends.length > 2 || Arrays.stream(ends).anyMatch(end -> !end.matches("[0-9]{1,5}"))) {
        throw refused(part, "it is neither a port nor a range");
      }
      int first = Integer.parseInt(ends[0]);
      int last = Integer.parseInt(ends[ends.length - 1]);
      if (first < FIRST || last > LAST || first > last) {
        throw refused(part, "ports go from " + FIRST + " to " + LAST);
      }
      for (int port = first; port <= last; port++) {
        ports.add(port);
      }
    }
    return new SourcePorts(ports.stream().mapToInt(Integer::intValue).toArray());
  }

  private static HeddleException refused(String part, String why) {
    return new HeddleException(
        "%s: \"%s\" is not understood: %s; example: 49152,49160-49167"
            .formatted(VARIABLE, part, why));
  }

  /**
   * Opens a sending socket of an address, on the first free one of these ports, or on any port if
   * none is free.
   *
   * @throws SystemCallException if the address was removed
   */
  UdpSocket bind(SoftPort.Address address) {
    for (int port : ports) {
      try {
        return UdpSocket.bind(address.gid(), address.scope(), port, false);
      } catch (SystemCallException taken) {
        if (taken.errno() != Errno.EADDRINUSE) {
          throw taken;
        }
      }
    }
    return UdpSocket.bind(address.gid(), address.scope(), 0, false);
  }
}
