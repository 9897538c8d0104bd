package io.heddle.tools;

import io.heddle.bgp.daemon.BgpDaemon;
import io.heddle.bgp.daemon.ConfigParser;
import io.heddle.bgp.daemon.DaemonConfig;
import io.heddle.platform.Log;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The route daemon, and questions to it. */
@Command(
    name = "bgp",
    description =
        "The route daemon: learns from the leaves which planes reach whom and how well, and"
            + " publishes it to the plugin processes of this host.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = BgpShowCommand.class)
final class BgpCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    Objects.requireNonNull(spec).commandLine().usage(spec.commandLine().getOut());
  }

  @Command(
      name = "run",
      description = "Runs in the foreground until it is told to end (SIGTERM, SIGINT).",
      mixinStandardHelpOptions = true)
  int run(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = "/etc/heddle/bgp.conf",
              description = "The configuration (${DEFAULT-VALUE}).")
          Path file,
      @Option(names = "--check", description = "Only say whether the configuration is right.")
          boolean check)
      throws InterruptedException {
    DaemonConfig config = ConfigParser.read(file);
    if (check) {
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      out.println(file + " is right: AS " + config.as() + ", " + config.peers().size() + " peers");
      out.flush();
      return 0;
    }
    Log log = timed();
    BgpDaemon daemon = BgpDaemon.start(config, new JobPeers(), log);
    BgpAnswers answers = new BgpAnswers(daemon, config.publish());
    BgpSocket socket = BgpSocket.listen(config.control(), answers::answer, log);
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              socket.close();
              daemon.close();
              log.info(
                  "ended; jobs keep the last weights for as long as HEDDLE_ROUTES_HOLD_MS says");
              ended.countDown();
            }));
    log.info(
        "AS %d, %d peers, routes at %s, questions at %s",
        config.as(), config.peers().size(), config.publish(), config.control());
    ended.await();
    return 0;
  }

  private static Log timed() {
    Log plain = Log.toStandardError();
    return (level, sentence) ->
        plain.write(level, LocalTime.now().truncatedTo(ChronoUnit.MILLIS) + " " + sentence);
  }
}
