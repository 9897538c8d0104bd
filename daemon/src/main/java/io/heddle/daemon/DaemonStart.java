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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
   * Takes a further step of a daemon's start. If it fails, ends what has started, so that peers get
   * a farewell and no unfinished file stays.
   */
  public static <T extends @Nullable Object> T orEnd(Runnable end, Supplier<T> step) {
    try {
      return step.get();
    } catch (RuntimeException | Error refused) {
      try {
        end.run();
      } catch (RuntimeException again) {
        refused.addSuppressed(again);
      }
      throw refused;
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
