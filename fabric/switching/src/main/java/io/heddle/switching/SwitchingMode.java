package io.heddle.switching;

import java.util.Locale;

/** A switch's choice among equal links for data packets; numbered as in switch.bpf.c. */
public enum SwitchingMode {
  /** By a hash of the flow, for data and protocol packets alike. */
  HASH,

  /** At random for each data packet, or train. */
  SPRAY,

  /** By hash among the less loaded half for each data packet, with correction: H3C's SprayLink. */
  SPRAYLINK;

  /** Returns the name in options and reports. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return text();
  }
}
