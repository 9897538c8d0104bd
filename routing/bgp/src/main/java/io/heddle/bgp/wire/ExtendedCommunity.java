package io.heddle.bgp.wire;

/**
 * Extended community (RFC 4360): eight bytes, the first two of which are the type. TT TT stands for
 * a type from {@link CodePoints}.
 *
 * <pre>
 * path bandwidth   TT TT | router id 4 | Gbit/s 2             draft-ietf-idr-fare
 * link bandwidth   00 04 or 40 04 | AS 2 | bytes/s float32 4  RFC 10005 §2
 * colour           03 0b | flags 2 | colour 4                 RFC 9012 §4.3
 * unreachable      TT TT | flags 1 | 0 1 | router id 4        draft-krierhorn-idr-upa
 * FIB-Suppress     TT TT | AS 2 | router id 4                 draft-xu-idr-fare-in-mpson §4.2.1
 * redirect         TT TT | flags 1 | ID type 1 | ID 4         draft-ietf-idr-flowspec-path-redirect
 * route target     00 02 | AS 2 | number 4                    RFC 4360 §4
 *                  01 02 | address 4 | number 2
 *                  02 02 | AS 4 | number 2                    RFC 5668
 * </pre>
 */
public sealed interface ExtendedCommunity {
  int BYTES = 8;
  int LINK_BANDWIDTH_TYPE = 0x0004;
  int COLOR_TYPE = 0x030b;
  int ROUTE_TARGET_SUBTYPE = 0x02;
  int AS_TRANS = 23456;

  /** Returns the community's eight bytes, the first one as the highest. */
  long bits(CodePoints codePoints);

  /**
   * @param gigabitsPerSecond 0 means unreachable
   */
  record PathBandwidth(boolean transitive, int routerId, int gigabitsPerSecond)
      implements ExtendedCommunity {
    public boolean isUnreachable() {
      return gigabitsPerSecond == 0;
    }

    @Override
    public long bits(CodePoints codePoints) {
      return type(codePoints.pathBandwidth(), transitive)
          | (routerId & 0xffff_ffffL) << 16
          | gigabitsPerSecond & 0xffff;
    }

    @Override
    public String toString() {
      return "path bandwidth " + gigabitsPerSecond + " Gbit/s by " + dotted(routerId);
    }
  }

  /**
   * @param bytesPerSecond as received: a peer may have written an integer here, or an invalid value
   */
  record LinkBandwidth(boolean transitive, int autonomousSystem, float bytesPerSecond)
      implements ExtendedCommunity {
    /** Returns whether the value is valid: finite, and zero or at least a byte a second. */
    public boolean isPlausible() {
      return bytesPerSecond == 0 || Float.isFinite(bytesPerSecond) && bytesPerSecond >= 1;
    }

    public double bitsPerSecond() {
      return 8.0 * bytesPerSecond;
    }

    @Override
    public long bits(CodePoints codePoints) {
      return type(LINK_BANDWIDTH_TYPE, transitive)
          | (autonomousSystem & 0xffffL) << 32
          | Float.floatToRawIntBits(bytesPerSecond) & 0xffff_ffffL;
    }

    @Override
    public String toString() {
      return "link bandwidth %s Gbit/s by AS %s%s"
          .formatted(
              isPlausible() ? Math.round(bitsPerSecond() / 1e6) / 1e3 : "?",
              autonomousSystem,
              transitive ? "" : ", non-transitive");
    }
  }

  /**
   * @param flags flags of RFC 9012; the upper two bits are RFC 9256's CO bits
   */
  record Color(int flags, long color) implements ExtendedCommunity {
    @Override
    public long bits(CodePoints codePoints) {
      return type(COLOR_TYPE, true) | (flags & 0xffffL) << 32 | color & 0xffff_ffffL;
    }

    @Override
    public String toString() {
      return "color " + (flags >>> 14) + ":" + color;
    }
  }

  /**
   * @param isOtherType whether the community's type is {@link CodePoints#otherUnreachable}
   */
  record Unreachable(boolean isOtherType, int flags, int routerId) implements ExtendedCommunity {
    public static final int DROP = 0x80;

    @Override
    public long bits(CodePoints codePoints) {
      return type(isOtherType ? codePoints.otherUnreachable() : codePoints.unreachable(), true)
          | (flags & 0xffL) << 40
          | routerId & 0xffff_ffffL;
    }

    @Override
    public String toString() {
      return "unreachable by " + dotted(routerId) + ((flags & DROP) != 0 ? ", drop" : "");
    }
  }

  /**
   * @param autonomousSystem AS number; {@link #AS_TRANS} in place of a four-octet one
   */
  record FibSuppress(int autonomousSystem, int routerId) implements ExtendedCommunity {
    @Override
    public long bits(CodePoints codePoints) {
      return type(codePoints.fibSuppress(), true)
          | (autonomousSystem & 0xffffL) << 32
          | routerId & 0xffff_ffffL;
    }

    @Override
    public String toString() {
      return "FIB-Suppress by AS " + autonomousSystem + " " + dotted(routerId);
    }
  }

  /**
   * Target of a Flowspec rule's traffic: an identifier that the rule's receiver knows.
   *
   * @param idType kind of identifier
   */
  record Redirect(int flags, int idType, int id) implements ExtendedCommunity {
    @Override
    public long bits(CodePoints codePoints) {
      return type(codePoints.redirect(), true)
          | (flags & 0xffL) << 40
          | (idType & 0xffL) << 32
          | id & 0xffff_ffffL;
    }

    @Override
    public String toString() {
      return "redirect to " + Integer.toUnsignedString(id) + " of type " + idType;
    }
  }

  /**
   * Route target, which selects the receivers of a route (RFC 4360 §4, RFC 5668).
   *
   * @param administrator an AS number, or an IPv4 address
   * @param number number assigned by the administrator: 32 bits after a two-octet AS, otherwise 16
   *     bits
   */
  record RouteTarget(Administrator kind, long administrator, long number)
      implements ExtendedCommunity {
    /** Kind of administrator, in the order of the type's first octet: 0, 1, 2. */
    public enum Administrator {
      TWO_OCTET_AS,
      ADDRESS,
      FOUR_OCTET_AS
    }

    @Override
    public long bits(CodePoints codePoints) {
      long type = (long) (kind.ordinal() << 8 | ROUTE_TARGET_SUBTYPE) << 48;
      return kind == Administrator.TWO_OCTET_AS
          ? type | (administrator & 0xffffL) << 32 | number & 0xffff_ffffL
          : type | (administrator & 0xffff_ffffL) << 16 | number & 0xffffL;
    }

    @Override
    public String toString() {
      String who =
          kind == Administrator.ADDRESS
              ? dotted((int) administrator)
              : String.valueOf(administrator);
      return "target " + who + ":" + number;
    }
  }

  /** Unknown community, kept as its eight bytes. */
  record Other(long raw) implements ExtendedCommunity {
    @Override
    public long bits(CodePoints codePoints) {
      return raw;
    }

    @Override
    public String toString() {
      return "0x%016x".formatted(raw);
    }
  }

  /** Decodes eight bytes; never fails. */
  static ExtendedCommunity of(long bits, CodePoints codePoints) {
    int type = (int) (bits >>> 48);
    boolean transitive = (type & CodePoints.NON_TRANSITIVE) == 0;
    int untouched = type & ~CodePoints.NON_TRANSITIVE;
    if (untouched == codePoints.pathBandwidth()) {
      return new PathBandwidth(transitive, (int) (bits >>> 16), (int) bits & 0xffff);
    }
    if (untouched == LINK_BANDWIDTH_TYPE) {
      float value = Float.intBitsToFloat((int) bits);
      /*
       * A NaN's bits may change in the conversion to float, so they are kept as an unknown
       * community.
       */
      return Float.isNaN(value)
          ? new Other(bits)
          : new LinkBandwidth(transitive, (int) (bits >>> 32) & 0xffff, value);
    }
    if (type == COLOR_TYPE) {
      return new Color((int) (bits >>> 32) & 0xffff, bits & 0xffff_ffffL);
    }
    if (type == codePoints.unreachable() || type == codePoints.otherUnreachable()) {
      /* Unreachable has no field for the reserved octet; if it isn't zero, all bytes are kept. */
      return (bits >>> 32 & 0xff) != 0
          ? new Other(bits)
          : new Unreachable(
              type != codePoints.unreachable(), (int) (bits >>> 40) & 0xff, (int) bits);
    }
    if (type == codePoints.fibSuppress()) {
      return new FibSuppress((int) (bits >>> 32) & 0xffff, (int) bits);
    }
    if (type == codePoints.redirect()) {
      return new Redirect((int) (bits >>> 40) & 0xff, (int) (bits >>> 32) & 0xff, (int) bits);
    }
    return (type & 0xff) == ROUTE_TARGET_SUBTYPE ? target(bits, type >>> 8) : new Other(bits);
  }

  private static ExtendedCommunity target(long bits, int kind) {
    return switch (kind) {
      case 0 ->
          new RouteTarget(
              RouteTarget.Administrator.TWO_OCTET_AS, bits >>> 32 & 0xffff, bits & 0xffff_ffffL);
      case 1, 2 ->
          new RouteTarget(
              RouteTarget.Administrator.values()[kind], bits >>> 16 & 0xffff_ffffL, bits & 0xffff);
      default -> new Other(bits);
    };
  }

  /** Returns a router id in dotted form. */
  static String dotted(int id) {
    return (id >>> 24) + "." + (id >>> 16 & 0xff) + "." + (id >>> 8 & 0xff) + "." + (id & 0xff);
  }

  private static long type(int type, boolean transitive) {
    return (long) (transitive ? type : type | CodePoints.NON_TRANSITIVE) << 48;
  }
}
