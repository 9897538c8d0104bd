package io.heddle.switching;

import java.util.List;

/**
 * One of a switch's equal links.
 *
 * @param link the interface
 * @param gateway the next hop's link-local address
 * @param mark of packets that are to take it, and beyond {@link #FIRST_TABLE} its routing table
 * @param bitsPerSecond its rate while nothing shapes it; any number where all are alike
 * @param ownPrefixes destinations whose route is by this link alone while it leads there; none
 *     where the carrier tells enough
 */
public record SwitchMember(
    String link, String gateway, int mark, long bitsPerSecond, List<String> ownPrefixes) {
  /** The routing table of a link is this and its mark. */
  public static final int FIRST_TABLE = 100;

  public SwitchMember {
    ownPrefixes = List.copyOf(ownPrefixes);
    if (mark < 1) {
      throw new IllegalArgumentException("mark " + mark + " of " + link + ": 0 is no mark");
    }
  }

  int table() {
    return FIRST_TABLE + mark;
  }
}
