package io.heddle.cli.gateway;

import io.heddle.addr.AddressText;
import io.heddle.dataplane.SteerKey;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handler of the control socket's queries and orders. It may be called by any thread. */
final class GatewayRequestHandler {
  static final String FLOWS = "flows";
  static final String LISTS = "lists";
  static final String RULES = "rules";
  static final String PEERS = "peers";
  static final String STEER = "steer";
  static final String RELEASE = "release";
  private static final String ANY = "any";

  private final Gateway gateway;

  GatewayRequestHandler(Gateway gateway) {
    this.gateway = gateway;
  }

  /** Returns an order as the request line that {@link #answer} parses. */
  static String order(
      String verb, String destination, int queuePair, @Nullable String source, String list) {
    return String.join(
        " ", verb, destination, Integer.toString(queuePair), source == null ? ANY : source, list);
  }

  Object answer(String question) {
    String[] words = question.strip().split("\\s+");
    try {
      return switch (words[0]) {
        case FLOWS -> gateway.view().flows();
        case LISTS -> gateway.view().lists();
        case RULES -> gateway.view().rules();
        case PEERS -> gateway.peers();
        case STEER -> new GatewayStatus.OrderResult(gateway.steer(key(words), words[4]));
        case RELEASE -> new GatewayStatus.OrderResult(gateway.release(key(words)));
        default -> Map.of("error", "unknown query " + words[0]);
      };
    } catch (HeddleException | IllegalArgumentException refused) {
      return Map.of("error", String.valueOf(refused.getMessage()));
    }
  }

  private static SteerKey key(String[] words) {
    if (words.length != 5) {
      throw new IllegalArgumentException(words[0] + " needs four words");
    }
    return new SteerKey(
        address(words[1]),
        Integer.parseInt(words[2]),
        words[3].equals(ANY) ? null : address(words[3]));
  }

  private static InetAddress address(String text) {
    InetAddress address = AddressText.parse(text);
    if (address == null) {
      throw new IllegalArgumentException("'" + text + "' isn't an IP address");
    }
    return address;
  }
}
