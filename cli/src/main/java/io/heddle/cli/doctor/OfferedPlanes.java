package io.heddle.cli.doctor;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneMarks;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Text form of the planes in a probe's answer: {@code KEY=ADDRESS/LENGTH%INTERFACE}, separated by
 * commas. If a route daemon has named the plane, {@code !KEY} follows, with the key that the plane
 * would have without a route daemon.
 */
final class OfferedPlanes {
  private static final int MOST_BITS = 128;
  private static final Pattern PART =
      Pattern.compile("(.+?)=([0-9A-Fa-f:.]+)(?:/(\\d{1,3})%([^!]*)(?:!(.+))?)?");

  private OfferedPlanes() {}

  static String text(List<Plane> planes) {
    return planes.stream().map(OfferedPlanes::text).collect(Collectors.joining(","));
  }

  private static String text(Plane plane) {
    return "%s=%s/%s%%%s%s"
        .formatted(
            plane.key(),
            AddressText.of(plane.address().address()),
            plane.address().prefixLength(),
            plane.link().name(),
            plane.marks().isNamedByDaemon() ? "!" + plane.ownKey() : "");
  }

  /** Parses planes and skips malformed parts. Older releases send only key and address. */
  static List<PlaneMarks> parse(String text) {
    List<PlaneMarks> planes = new ArrayList<>();
    for (String part : text.split(",")) {
      Matcher plane = PART.matcher(part);
      InetAddress address = plane.matches() ? AddressText.parse(plane.group(2)) : null;
      if (address != null) {
        String key = plane.group(1);
        String length = plane.group(3);
        planes.add(
            new PlaneMarks(
                key,
                plane.group(5) == null ? key : plane.group(5),
                address,
                length == null ? MOST_BITS : Integer.parseInt(length),
                plane.group(4) == null ? "" : plane.group(4)));
      }
    }
    return planes;
  }
}
