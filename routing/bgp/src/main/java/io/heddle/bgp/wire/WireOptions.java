package io.heddle.bgp.wire;

/**
 * Negotiated options that affect the encoding.
 *
 * @param fourOctetAs whether AS numbers in paths have four octets (RFC 6793)
 * @param external whether the peer is in another AS, and so may not send LOCAL_PREF and route
 *     reflection attributes
 * @param acceptAigp whether AIGP is read (RFC 7311 §3.3); otherwise it counts as unknown and is
 *     dropped
 * @param acceptAsSets whether a path may have AS_SETs, which RFC 9774 has deprecated
 * @param maxMessageBytes 4096, or 65535 with RFC 8654
 * @param families families whose routes are read and written; others are skipped
 */
public record WireOptions(
    boolean fourOctetAs,
    boolean external,
    boolean acceptAigp,
    boolean acceptAsSets,
    int maxMessageBytes,
    CodePoints codePoints,
    Families families) {
  /** Options before the OPEN exchange. A host and its router usually negotiate the same options. */
  public static final WireOptions DEFAULT =
      new WireOptions(
          true, true, true, false, BgpMessage.MAX_BYTES, CodePoints.DEFAULT, Families.IPV6_UNICAST);

  /** Returns the options with another maximum length of messages. */
  public WireOptions withMaxMessageBytes(int most) {
    return new WireOptions(
        fourOctetAs, external, acceptAigp, acceptAsSets, most, codePoints, families);
  }

  /** Returns the options with other families. */
  public WireOptions withFamilies(Families others) {
    return new WireOptions(
        fourOctetAs, external, acceptAigp, acceptAsSets, maxMessageBytes, codePoints, others);
  }
}
