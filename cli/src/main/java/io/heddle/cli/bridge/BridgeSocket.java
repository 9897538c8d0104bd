package io.heddle.cli.bridge;

import io.heddle.bridge.BridgeFaults;
import io.heddle.bridge.redundancy.BridgeOrders;
import io.heddle.cli.kit.Json;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonStart;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Control socket of a bridge: a request in one line, an answer as a JSON document. Only the
 * bridge's own user and root have access.
 */
public final class BridgeSocket {
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("heddle-bridge", "bridge", "heddle bridge run", "rw-------");

  private BridgeSocket() {}

  /**
   * Checks that no bridge listens at this path.
   *
   * @throws HeddleException if one does
   */
  public static void requireNotRunning(Path path) {
    DaemonStart.requireNotRunning(DAEMON, path);
  }

  /**
   * Opens the socket.
   *
   * @param orders handler of orders; null for a bridge without redundancy
   * @throws HeddleException when the socket can't be created
   */
  public static ControlSocket listen(
      Path path, @Nullable BridgeOrders orders, BridgeFaults faults, Log log) {
    return ControlSocket.listen(
        DAEMON,
        path,
        question -> {
          Object answer = answer(orders, faults, question);
          if (answer instanceof BridgeOrders.Outcome outcome) {
            log.info("by order \"%s\": %s", question.strip(), outcome.text());
          }
          return Json.of(answer);
        },
        log);
  }

  /**
   * Sends an order to a bridge.
   *
   * @return the result, as JSON
   * @throws HeddleException if no bridge listens, or if the bridge refuses the order
   */
  public static String request(Path path, String order) {
    return ControlSocket.request(DAEMON, path, order);
  }

  private static Object answer(
      @Nullable BridgeOrders orders, BridgeFaults faults, String question) {
    String[] words = question.strip().split("\\s+");
    try {
      if (words[0].equals("drop")) {
        return faults.drop(Integer.parseInt(words[1]), words.length > 2 ? words[2] : "");
      }
      if (orders == null) {
        throw new HeddleException(
            "this bridge is alone: its configuration has no [redundancy], so there is no bridge"
                + " to move groups to");
      }
      return answer(orders, words[0], words.length > 1 ? words[1] : "");
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException garbled) {
      throw new HeddleException(
          "this bridge doesn't understand the order " + question.strip(), garbled);
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
      throw new HeddleException("the bridge is ending", ending);
    }
  }

  private static Object answer(BridgeOrders orders, String order, String group)
      throws InterruptedException {
    return switch (order) {
      case "drain" -> orders.drain();
      case "end-drain" -> orders.endDrain();
      case "hold" -> orders.setReserve(true);
      case "end-hold" -> orders.setReserve(false);
      case "take" -> orders.take(group);
      case "yield" -> orders.yield(group);
      case "release" -> orders.release(group);
      default -> throw new HeddleException("this bridge doesn't know the order " + order);
    };
  }
}
