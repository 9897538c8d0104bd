package io.heddle.cli.operate;

import io.heddle.cli.kit.QuestionSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.nio.file.Path;
import java.util.function.Function;

/** The socket that {@code heddle bgp show} asks. Everybody on the host may. */
public final class BgpSocket {
  private static final QuestionSocket.Daemon DAEMON =
      new QuestionSocket.Daemon("heddle-bgp", "route daemon", "heddle bgp run", "rw-rw-rw-");

  private BgpSocket() {}

  /**
   * The routes file's lock has told already that no other daemon uses what is there.
   *
   * @throws HeddleException when the socket can't be made
   */
  static QuestionSocket listen(Path path, Function<String, Object> answers, Log log) {
    return QuestionSocket.listen(DAEMON, path, answers, log);
  }

  /**
   * Asks the daemon behind a socket.
   *
   * @throws HeddleException when there is none, or it can't answer
   */
  public static String ask(Path path, String question) {
    return QuestionSocket.ask(DAEMON, path, question);
  }
}
