package io.heddle.bgp.wire;

/** Large community: three numbers of 32 bits (RFC 8092). */
public record LargeCommunity(long administrator, long first, long second) {
  static final int BYTES = 12;

  @Override
  public String toString() {
    return administrator + ":" + first + ":" + second;
  }
}
