package io.heddle.bgp.flowspec.rule;

import io.heddle.addr.AddressText;
import io.heddle.bgp.wire.Prefix;
import java.io.ByteArrayOutputStream;

/**
 * Match on bits of an address (RFC 8956 §3.1).
 *
 * <pre>
 * type 1 | length 1 | offset 1 | bits from offset to length, padded to octets     IPv6
 * type 1 | length 1 | bits to length, padded to octets          IPv4, RFC 8955 §4.2.2.1
 * </pre>
 *
 * @param field source or destination address
 * @param offset number of the address's leading bits that are ignored
 * @param length number of the address's leading bits up to the last matched one
 * @param high upper 64 bits of the pattern; bits that aren't matched are zero
 * @param low lower 64 bits of the pattern; bits that aren't matched are zero
 */
public record PrefixMatch(FlowField field, int offset, int length, long high, long low)
    implements FlowComponent {
  /**
   * @throws IllegalArgumentException if offset and length are invalid, or the field isn't an
   *     address
   */
  public PrefixMatch {
    if (!isPossible(offset, length) || field.kind() != FlowField.Kind.PREFIX) {
      throw new IllegalArgumentException(
          "no %s component from bit %s to %s".formatted(field, offset, length));
    }
    high &= Prefix.highMask(length) & ~Prefix.highMask(offset);
    low &= Prefix.lowMask(length) & ~Prefix.lowMask(offset);
  }

  /**
   * Returns whether the offset is below the length, and the length is at most 128. Offset and
   * length may also both be zero; then every address matches.
   */
  public static boolean isPossible(int offset, int length) {
    return length <= Prefix.MAX_LENGTH && (offset < length || offset == 0 && length == 0);
  }

  public static PrefixMatch of(FlowField field, Prefix prefix) {
    return new PrefixMatch(field, 0, prefix.length(), prefix.high(), prefix.low());
  }

  /** Returns the match of a prefix of IPv4 addresses. */
  public static PrefixMatch ofIpv4(FlowField field, int address, int length) {
    return of(field, Prefix.ipv4(address, length));
  }

  /** Returns whether only IPv4 addresses match. */
  boolean isIpv4() {
    return offset == 0 && prefix().isIpv4();
  }

  /** Returns the number of bytes that the bits from offset to length take. */
  public static int patternBytes(int offset, int length) {
    return length - offset + 7 >>> 3;
  }

  @Override
  public int type() {
    return field.registeredType();
  }

  /** Returns the match as a prefix; its offset must be 0. */
  public Prefix prefix() {
    return new Prefix(high, low, length);
  }

  public boolean isHost() {
    return offset == 0 && length == Prefix.MAX_LENGTH;
  }

  @Override
  public boolean matches(FlowKey flow) {
    boolean destination = field == FlowField.DESTINATION;
    long flowHigh = destination ? flow.destinationHigh() : flow.sourceHigh();
    long flowLow = destination ? flow.destinationLow() : flow.sourceLow();
    return ((flowHigh ^ high) & Prefix.highMask(length) & ~Prefix.highMask(offset)) == 0
        && ((flowLow ^ low) & Prefix.lowMask(length) & ~Prefix.lowMask(offset)) == 0;
  }

  @Override
  public boolean isConstantPerFlow() {
    return true;
  }

  /** Writes the match in the encoding of an IPv4 rule. */
  void writeIpv4(ByteArrayOutputStream out) {
    int bits = length - Prefix.MAPPED_BITS;
    out.write(type());
    out.write(bits);
    for (int i = 0; i < patternBytes(0, bits); i++) {
      out.write((int) (low >>> 24 - 8 * i));
    }
  }

  @Override
  public void write(ByteArrayOutputStream out) {
    out.write(type());
    out.write(length);
    out.write(offset);
    for (int i = 0; i < patternBytes(offset, length); i++) {
      out.write((int) (bits(offset + 8 * i) >>> 56));
    }
  }

  /* Returns 64 bits of the address, from bit {@code at} on, with zeros after the address's end. */
  private long bits(int at) {
    if (at >= 64) {
      return low << at - 64;
    }
    return at == 0 ? high : high << at | low >>> 64 - at;
  }

  @Override
  public int precedence(FlowComponent other) {
    PrefixMatch that = (PrefixMatch) other;
    if (offset != that.offset) {
      return Integer.compare(offset, that.offset);
    }
    int common = Math.min(length, that.length);
    int order =
        Long.compareUnsigned(high & Prefix.highMask(common), that.high & Prefix.highMask(common));
    if (order == 0) {
      order = Long.compareUnsigned(low & Prefix.lowMask(common), that.low & Prefix.lowMask(common));
    }
    return order != 0 ? order : Integer.compare(that.length, length);
  }

  @Override
  public String toString() {
    String address = AddressText.of(new Prefix(high, low, Prefix.MAX_LENGTH).inetAddress());
    int shown = isIpv4() ? length - Prefix.MAPPED_BITS : length;
    String bits = isHost() ? "" : offset == 0 ? "/" + shown : " bits " + offset + "-" + length;
    return field.text() + " " + address + bits;
  }
}
