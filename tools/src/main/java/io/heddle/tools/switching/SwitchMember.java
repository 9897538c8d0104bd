package io.heddle.tools.switching;

import java.util.List;

/**
 * Link of a switch's group.
 *
 * @param link name of the link's interface
 * @param gateway link-local address of the next hop
 * @param mark mark of the packets that take the link. The link's routing table is {@link
 *     #FIRST_TABLE} plus the mark.
 * @param bitsPerSecond rate of the link if it isn't shaped, bit/s; any value if all links are equal
 * @param ownPrefixes destinations to which the main table's only route must lead over this link;
 *     otherwise the link counts as down. Empty if a carrier is sufficient.
 */
public record SwitchMember(
    String link, String gateway, int mark, long bitsPerSecond, List<String> ownPrefixes) {
  /** Number to which a link's mark is added to get the number of its routing table. */
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
