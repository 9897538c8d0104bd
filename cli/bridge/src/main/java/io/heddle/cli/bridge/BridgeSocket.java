package io.heddle.cli.bridge;

import io.heddle.bridge.BridgeOrders;
import io.heddle.cli.kit.DaemonStart;
import io.heddle.cli.kit.QuestionSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.nio.file.Path;
import java.util.Map;

/**
 * The socket at which a bridge among others takes orders: a line of question, a JSON document. Only
 * its own user and root may.
 */
final class BridgeSocket {
  private static final QuestionSocket.Daemon DAEMON =
      new QuestionSocket.Daemon(
          "heddle-bridge", "bridge with a redundancy line", "heddle bridge run", "rw-------");

  private BridgeSocket() {}

  /**
   * @throws HeddleException where another bridge answers there
   */
  static void requireAlone(Path path) {
    DaemonStart.requireAlone(DAEMON, path);
  }

  /**
   * @throws HeddleException when the socket can't be made
   */
  static QuestionSocket listen(Path path, BridgeOrders orders, Log log) {
    return QuestionSocket.listen(
        DAEMON,
        path,
        question -> {
          Object answer = answer(orders, question);
          if (answer instanceof BridgeOrders.Outcome outcome) {
            log.info("by order \"%s\": %s", question.strip(), outcome.text());
          }
          return answer;
        },
        log);
  }

  /**
   * Gives a bridge an order.
   *
   * @return what came of it, as JSON
   * @throws HeddleException when there is no bridge, or it refuses
   */
  static String ask(Path path, String order) {
    return QuestionSocket.ask(DAEMON, path, order);
  }

  static Object answer(BridgeOrders orders, String question) {
    String[] words = question.strip().split("\\s+");
    String group = words.length > 1 ? words[1] : "";
    try {
      return switch (words[0]) {
        case "drain" -> orders.drain();
        case "end-drain" -> orders.endDrain();
        case "hold" -> orders.hold(true);
        case "end-hold" -> orders.hold(false);
        case "take" -> orders.take(group);
        case "yield" -> orders.yield(group);
        case "release" -> orders.release(group);
        default -> failure("this bridge doesn't know the order " + words[0]);
      };
    } catch (HeddleException refused) {
      return failure(String.valueOf(refused.getMessage()));
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
      return failure("the bridge is ending");
    }
  }

  private static Map<String, String> failure(String text) {
    return Map.of("error", text);
  }
}
