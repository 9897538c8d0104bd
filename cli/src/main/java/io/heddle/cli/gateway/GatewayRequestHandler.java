package io.heddle.cli.gateway;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.Json;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.HeddleException;
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

  /**
   * Returns the answer as a JSON document.
   *
   * @throws HeddleException for an unknown query or a refused order
   */
  String answer(String question) {
    return Json.of(document(question));
  }

  private Object document(String question) {
    String[] words = question.strip().split("\\s+");
    try {
      return switch (words[0]) {
        case FLOWS -> gateway.view().flows();
        case LISTS -> gateway.view().lists();
        case RULES -> gateway.view().rules();
        case PEERS -> gateway.peers();
        case STEER -> new GatewayStatus.OrderResult(gateway.steer(key(words), words[4]));
        case RELEASE -> new GatewayStatus.OrderResult(gateway.release(key(words)));
        default -> throw new HeddleException("unknown query " + words[0]);
      };
    } catch (IllegalArgumentException refused) {
      throw new HeddleException(String.valueOf(refused.getMessage()), refused);
    }
  }

  private static SteerKey key(String[] words) {
    if (words.length != 5) {
      throw new IllegalArgumentException(words[0] + " needs four words");
    }
    return new SteerKey(
        AddressText.require(words[1]),
        Integer.parseInt(words[2]),
        words[3].equals(ANY) ? null : AddressText.require(words[3]));
  }
}
