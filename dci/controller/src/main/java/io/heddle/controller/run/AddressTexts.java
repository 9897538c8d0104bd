package io.heddle.controller.run;

import io.heddle.addr.AddressText;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cache of parsed addresses. Used by one thread at a time.
 *
 * <p>It saves much work: ten thousand elephants that are reported five times per second contain a
 * hundred thousand addresses per second.
 */
final class AddressTexts {
  private static final int MOST = 65_536;

  /**
   * Parsed text.
   *
   * @param canonical text of the address by RFC 5952, or the given text if it isn't an address
   * @param address the address; null if the text isn't one
   */
  record Parsed(String canonical, @Nullable InetAddress address) {}

  private final Map<String, Parsed> known = new HashMap<>();

  Parsed of(String text) {
    Parsed found = known.get(text);
    if (found == null) {
      if (known.size() == MOST) {
        known.clear();
      }
      found = parse(text);
      known.put(text, found);
    }
    return found;
  }

  static Parsed parse(String text) {
    InetAddress address = AddressText.parse(text);
    return new Parsed(address == null ? text : AddressText.of(address), address);
  }
}
