package io.heddle.switching;

import java.util.List;

/**
 * One of a switch's equal links.
 *
 * @param link the interface
 * @param gateway the next hop's link-local address
 * @param mark of packets that take it; plus {@link #FIRST_TABLE} its routing table
 * @param bitsPerSecond rate of the unshaped link; any number if all are equal
 * @param ownPrefixes destinations routed by this link alone while it is up; empty if the carrier is
 *     sufficient
 */
public record SwitchMember(
    String link, String gateway, int mark, long bitsPerSecond, List<String> ownPrefixes) {
  /** Base of the links' routing tables; a link's mark is added. */
  public static final int FIRST_TABLE = 100;

  public SwitchMember {
    ownPrefixes = List.copyOf(ownPrefixes);
    if (mark < 1) {
      throw new IllegalArgumentException("mark " + mark + " of " + link + ": a mark can't be 0");
    }
  }

  int table() {
    return FIRST_TABLE + mark;
  }
}
