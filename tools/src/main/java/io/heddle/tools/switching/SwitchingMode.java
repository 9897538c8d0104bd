package io.heddle.tools.switching;

import java.util.Locale;

/**
 * Mode in which a switch selects among equal links for data packets. The constants have the same
 * order as those of {@code enum mode} in switch.bpf.c.
 */
public enum SwitchingMode {
  /** Selection by a hash of the flow, for data and protocol packets alike. */
  HASH,

  /** Random selection for each data packet or segment train. */
  SPRAY,

  /**
   * Selection by hash among the less loaded half of the links for each data packet, with
   * correction: H3C's SprayLink.
   */
  SPRAYLINK;

  /** Returns the name of the mode in options and reports. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return text();
  }
}
