package io.heddle.switching;

import java.util.Locale;

/** How a switch chooses among equal links for data packets; numbered as in switch.bpf.c. */
public enum SwitchingMode {
  /** By a hash of the flow, data and protocol packets alike. */
  HASH,

  /** Each data packet, or train of them, at random. */
  SPRAY,

  /** Each data packet by hash among the less loaded half, corrected: H3C's SprayLink. */
  SPRAYLINK;

  /** As options and reports name it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return text();
  }
}
