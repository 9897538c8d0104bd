package io.heddle.cli.operate;

import io.heddle.cli.kit.Json;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonStart;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * Control socket of the route daemon, for {@code heddle bgp show}. Every user of the host may
 * connect.
 */
public final class BgpSocket {
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("heddle-bgp", "route daemon", "heddle bgp run", "rw-rw-rw-");

  private BgpSocket() {}

  /**
   * Checks that no route daemon listens at this path. The lock of the routes file isn't enough: two
   * daemons with files of their own may have the same socket in their configurations.
   *
   * @throws HeddleException if one does
   */
  static void requireNotRunning(Path path) {
    DaemonStart.requireNotRunning(DAEMON, path);
  }

  /**
   * Opens the socket, and replaces one that a killed daemon has left.
   *
   * @throws HeddleException if the socket can't be created
   */
  static ControlSocket listen(Path path, Function<String, Object> answers, Log log) {
    return ControlSocket.listen(DAEMON, path, answers.andThen(Json::of), log);
  }

  /**
   * Sends a request to the daemon and returns the answer.
   *
   * @throws HeddleException if no daemon listens, or it can't answer
   */
  public static String request(Path path, String request) {
    return ControlSocket.request(DAEMON, path, request);
  }
}
