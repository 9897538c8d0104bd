package io.heddle.controller.run;

import io.heddle.addr.AddressText;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that reports name again and again, each parsed once. One thread at a time.
 *
 * <p>Ten thousand elephants five times a second are a hundred thousand texts a second.
 */
final class AddressTexts {
  private static final int MOST = 65_536;

  /**
   * An address.
   *
   * @param canonical its text (RFC 5952), or what was given where that is none
   * @param address null where that is none
   */
  record Known(String canonical, @Nullable InetAddress address) {}

  private final Map<String, Known> known = new HashMap<>();

  Known of(String text) {
    Known found = known.get(text);
    if (found == null) {
      if (known.size() == MOST) {
        known.clear();
      }
      found = parse(text);
      known.put(text, found);
    }
    return found;
  }

  static Known parse(String text) {
    InetAddress address = AddressText.parse(text);
    return new Known(address == null ? text : AddressText.of(address), address);
  }
}
