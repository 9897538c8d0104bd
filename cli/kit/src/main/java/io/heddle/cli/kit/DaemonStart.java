package io.heddle.cli.kit;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** How a daemon begins. */
public final class DaemonStart {
  private DaemonStart() {}

  /** To standard error, each line with the time of day. */
  public static Log timedLog() {
    Log plain = Log.toStandardError();
    return (level, sentence) ->
        plain.write(
            level,
            LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS) + " " + sentence);
  }

  /**
   * Has a daemon read its configuration again whenever SIGHUP comes. Where the signal was ignored
   * before the process began, as {@code nohup} does it, Java leaves it so; then the log says it.
   *
   * @param reload on a thread of its own
   */
  public static void onHangUp(Log log, Runnable reload) {
    SignalHandler before = Signal.handle(new Signal("HUP"), signal -> reload.run());
    if (before == SignalHandler.SIG_IGN) {
      log.warn(
          "SIGHUP was ignored when this process began, as nohup has it, and stays so: to have the"
              + " configuration read again, start anew");
    }
  }

  /**
   * Makes sure that no daemon listens at a socket yet. To be asked before anything begins that two
   * would do to each other.
   *
   * @throws HeddleException where one does
   */
  public static void requireAlone(QuestionSocket.Daemon daemon, Path socket) {
    try (SocketChannel other = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      throw new HeddleException(
          "a %s runs already and listens at %s; end it first".formatted(daemon.called(), socket));
    } catch (IOException nobody) {
      /* There is no socket, or nobody behind it. */
    }
  }
}
