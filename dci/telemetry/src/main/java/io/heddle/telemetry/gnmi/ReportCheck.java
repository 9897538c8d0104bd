package io.heddle.telemetry.gnmi;

import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Validation of a peer's report entries. Each {@code of} method returns the entry's key in the YANG
 * model, or throws an IllegalArgumentException that names the invalid value.
 */
final class ReportCheck {
  private static final int MOST_QUEUE_PAIR = 0xff_ffff;
  private static final String ANY = "any";

  private ReportCheck() {}

  static List<Object> of(ListReport list) {
    requirePresent("policy", list.policy());
    require(list.id() > 0, "id", list.id());
    Double loss = list.loss();
    require(loss == null || loss >= 0 && loss <= 1, "loss", loss);
    Double roundTripUs = list.roundTripUs();
    require(roundTripUs == null || roundTripUs >= 0, "round-trip-us", roundTripUs);
    return List.of(list.id());
  }

  static List<Object> of(ElephantReport flow) {
    requirePresent("policy", flow.policy());
    require(flow.bitsPerSecond() >= 0, "bits-per-second", flow.bitsPerSecond());
    return List.of(
        address("destination", flow.destination()),
        queuePair(flow.queuePair()),
        address("source", flow.source()));
  }

  static List<Object> of(RuleReport rule) {
    requirePresent("set-by", rule.setBy());
    String source = rule.source();
    return List.of(
        address("destination", rule.destination()),
        queuePair(rule.queuePair()),
        source == null ? ANY : address("source", source));
  }

  private static int queuePair(int number) {
    require(number >= 0 && number <= MOST_QUEUE_PAIR, "queue-pair", number);
    return number;
  }

  private static String address(String name, @Nullable String text) {
    String address = requirePresent(name, text);
    /* Accepts the text of RFC 5952 or a dotted quad, without zone and brackets. */
    require(looksLikeAddress(address), name, text);
    try {
      InetAddress.ofLiteral(address);
      return address;
    } catch (IllegalArgumentException notAnAddress) {
      throw new IllegalArgumentException(name + " can't be " + text, notAnAddress);
    }
  }

  /*
   * Returns whether the text has only the characters of an address. It avoids a regular expression,
   * since it checks the addresses of 50,000 elephants per second.
   */
  private static boolean looksLikeAddress(String text) {
    boolean separated = false;
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == ':' || each == '.') {
        separated = true;
      } else if (Character.digit(each, 16) < 0 || each > 'f') {
        return false;
      }
    }
    return separated;
  }

  private static String requirePresent(String name, @Nullable String text) {
    if (text == null) {
      throw new IllegalArgumentException("an entry has no " + name);
    }
    return text;
  }

  private static void require(boolean sound, String name, @Nullable Object value) {
    if (!sound) {
      throw new IllegalArgumentException(name + " can't be " + value);
    }
  }
}
