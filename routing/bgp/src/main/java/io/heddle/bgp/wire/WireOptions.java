package io.heddle.bgp.wire;

/**
 * What two speakers have agreed on, as far as bytes depend on it.
 *
 * @param fourOctetAs whether AS numbers in paths have four octets (RFC 6793)
 * @param external whether the peer is in another AS: LOCAL_PREF and route reflection are then not
 *     its to send
 * @param acceptAigp whether AIGP is read (RFC 7311 §3.3); otherwise it counts as unknown and is
 *     dropped
 * @param acceptAsSets whether a path may have sets in it, which RFC 9774 has withdrawn
 * @param maxMessageBytes 4096, or 65535 with RFC 8654
 * @param families whose routes are read and written; those of others are passed over
 */
public record WireOptions(
    boolean fourOctetAs,
    boolean external,
    boolean acceptAigp,
    boolean acceptAsSets,
    int maxMessageBytes,
    CodePoints codePoints,
    Families families) {
  /** Before OPEN is exchanged, and what a stub usually ends up with. */
  public static final WireOptions DEFAULT =
      new WireOptions(
          true, true, true, false, BgpMessage.MAX_BYTES, CodePoints.DEFAULT, Families.IPV6_UNICAST);

  /** The same for messages of another length at most. */
  public WireOptions withMaxMessageBytes(int most) {
    return new WireOptions(
        fourOctetAs, external, acceptAigp, acceptAsSets, most, codePoints, families);
  }

  /** The same for other families. */
  public WireOptions withFamilies(Families others) {
    return new WireOptions(
        fourOctetAs, external, acceptAigp, acceptAsSets, maxMessageBytes, codePoints, others);
  }
}
