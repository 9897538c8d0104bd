package io.heddle.controller.run;

import io.heddle.addr.AddressText;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cache of parsed addresses. Used by one thread at a time.
 *
 * <p>Ten thousand elephants reported five times per second bring a hundred thousand address texts
 * per second.
 */
final class AddressTexts {
  private static final int MOST = 65_536;

  /**
   * A parsed address.
   *
   * @param canonical its text by RFC 5952, or the given text if it isn't an address
   * @param address null if the text isn't an address
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
