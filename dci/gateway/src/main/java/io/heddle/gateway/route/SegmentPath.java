package io.heddle.gateway.route;

import java.net.Inet6Address;
import java.util.List;

/**
 * List of segments (SRv6 SIDs), in the order in which packets visit them.
 *
 * @param reduced whether the first segment is only in the outer header's destination, not in the
 *     SRH too (RFC 8986, 5.2, H.Encaps.Red)
 */
public record SegmentPath(List<Inet6Address> segments, boolean reduced) {
  public static final int MOST_SEGMENTS = 16;
  private static final int IPV6_HEADER_BYTES = 40;
  private static final int SEGMENT_HEADER_BYTES = 8;
  private static final int SEGMENT_BYTES = 16;

  public SegmentPath {
    segments = List.copyOf(segments);
    if (segments.isEmpty() || segments.size() > MOST_SEGMENTS) {
      throw new IllegalArgumentException(segments.size() + " segments, not 1 to " + MOST_SEGMENTS);
    }
  }

  /**
   * Returns the bytes that the encapsulation adds: the outer header, and the SRH if there is one.
   */
  public int overheadBytes() {
    int inHeader = reduced ? segments.size() - 1 : segments.size();
    return IPV6_HEADER_BYTES
        + (inHeader == 0 ? 0 : SEGMENT_HEADER_BYTES + SEGMENT_BYTES * inHeader);
  }

  SegmentPath withFullEncapsulation() {
    return new SegmentPath(segments, false);
  }
}
