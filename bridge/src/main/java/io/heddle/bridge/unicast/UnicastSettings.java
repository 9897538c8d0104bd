package io.heddle.bridge.unicast;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How datagrams for one host are bridged, as configured.
 *
 * @param trafficClass of the packets that leave, 0 to 255
 * @param addresses how hosts see each other
 * @param standIns of proxied addresses
 * @param mapping of the numbers of queue pairs; null where they stay as they are
 */
public record UnicastSettings(
    int trafficClass, Addresses addresses, StandIns standIns, @Nullable NumberMapping mapping) {
  /** What may be said of the numbers of queue pairs. */
  public static final String SAME_NUMBERS = "same";

  /** How hosts of one fabric see those of the other. */
  public enum Addresses {
    /** By their own addresses, which are routed to the bridge. */
    TRANSPARENT,

    /** By addresses of the bridge. */
    PROXIED;

    public static List<String> words() {
      return List.of(TRANSPARENT.word(), PROXIED.word());
    }

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * @throws IllegalArgumentException for another word
     */
    public static Addresses named(String word) {
      if (!words().contains(word)) {
        throw new IllegalArgumentException("neither");
      }
      return valueOf(word.toUpperCase(Locale.ROOT));
    }
  }

  public boolean isTransparent() {
    return addresses == Addresses.TRANSPARENT;
  }

  /** What can't change while the bridge runs, as in the configuration. */
  public String fixed() {
    return String.format(
        Locale.ROOT,
        "mode=%s addresses=%s tos=0x%02x%s",
        mapping == null ? SAME_NUMBERS : NumberMapping.WORD,
        addresses.word(),
        trafficClass,
        mapping == null ? "" : mapping.describe());
  }

  /** Its settings, for people. */
  public String describe() {
    return fixed() + (isTransparent() ? "" : ", proxies: " + standIns.all().size());
  }
}
