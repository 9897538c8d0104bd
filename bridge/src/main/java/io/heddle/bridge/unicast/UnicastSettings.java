package io.heddle.bridge.unicast;

import java.util.Locale;

/**
 * How datagrams for one host are bridged, as configured. Addresses and numbers of queue pairs stay
 * as they are.
 *
 * @param trafficClass of the packets that leave, 0 to 255
 */
public record UnicastSettings(int trafficClass) {
  /** What may be said of the numbers of queue pairs. */
  public static final String SAME_NUMBERS = "same";

  /** Its settings, as in the configuration. */
  public String describe() {
    return String.format(Locale.ROOT, "mode=%s tos=0x%02x", SAME_NUMBERS, trafficClass);
  }
}
