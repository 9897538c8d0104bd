package io.heddle.daemon;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** Steps that daemons share at their start and end. */
public final class DaemonStart {
  private DaemonStart() {}

  /** Returns a log to standard error, with the time of day on each line. */
  public static Log timedLog() {
    Log plain = Log.toStandardError();
    return (level, sentence) ->
        plain.write(
            level,
            LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS) + " " + sentence);
  }

  /**
   * Runs a reload whenever SIGHUP arrives. If the signal was ignored when the process began, as
   * under {@code nohup}, Java keeps it ignored, and a log line warns.
   *
   * @param reload reload, which the JVM runs on a thread of its own
   */
  public static void onHangUp(Log log, Runnable reload) {
    SignalHandler before = Signal.handle(new Signal("HUP"), signal -> reload.run());
    if (before == SignalHandler.SIG_IGN) {
      log.warn(
          "SIGHUP was ignored when this process began, as under nohup, and stays ignored: to read"
              + " the configuration again, restart the daemon");
    }
  }

  /**
   * Makes sure that no daemon listens at a socket. Call it before any step by which a second daemon
   * would disturb a running one.
   *
   * @throws HeddleException if one listens
   */
  public static void requireNotRunning(ControlSocket.Daemon daemon, Path socket) {
    try (SocketChannel other = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      throw new HeddleException(
          "a %s runs already and listens at %s; end it first".formatted(daemon.called(), socket));
    } catch (IOException nobody) {
      /* There is no socket, or no daemon behind it. */
    }
  }

  /**
   * Runs the end of a daemon once SIGTERM or SIGINT arrives, on the JVM's shutdown thread.
   *
   * @return latch that opens when the end has run
   */
  public static CountDownLatch onEnd(Runnable end) {
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              end.run();
              ended.countDown();
            }));
    return ended;
  }
}
