package io.heddle.bridge.unicast;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of unicast forwarding.
 *
 * @param trafficClass traffic class of the forwarded packets, 0 to 255
 * @param addresses addresses by which hosts know the hosts of the other fabric
 * @param proxyAddresses map of the bridge's proxy addresses; empty if addresses are transparent
 * @param mapping mapping of queue pair numbers; null if they are unchanged
 */
public record UnicastSettings(
    int trafficClass,
    Addresses addresses,
    ProxyAddresses proxyAddresses,
    @Nullable QueuePairMapping mapping) {
  /** Value of mode in the configuration, for unchanged queue pair numbers. */
  public static final String SAME_NUMBERS = "same";

  /** Addresses by which hosts know the hosts of the other fabric. */
  public enum Addresses {
    /** The hosts' own addresses, which are routed to the bridge. */
    TRANSPARENT,

    /** Addresses of the bridge. */
    PROXIED;

    public static List<String> words() {
      return List.of(TRANSPARENT.word(), PROXIED.word());
    }

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the constant with this name in a configuration.
     *
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

  /** Returns the settings, for people. */
  public String describe() {
    return String.format(
        Locale.ROOT,
        "mode=%s addresses=%s tos=0x%02x%s%s",
        mapping == null ? SAME_NUMBERS : QueuePairMapping.WORD,
        addresses.word(),
        trafficClass,
        mapping == null ? "" : mapping.describe(),
        isTransparent() ? "" : ", proxies: " + proxyAddresses.all().size());
  }
}
