package io.heddle.cli.stat;

import io.heddle.daemon.DaemonFaults;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command {@code heddle exporter}: serves statistics to Prometheus. */
@Command(
    name = "exporter",
    description =
        "Serves the counters of every process with the plugin to Prometheus, read from the"
            + " statistics files at each scrape. A damaged file is skipped, and counted by the"
            + " metric heddle_unreadable_statistics.",
    mixinStandardHelpOptions = true,
    footer =
        "%nRuns until ^C. Listens on loopback by default: there is no password, so choose"
            + " another address only on a trusted network.")
public final class ExporterCommand implements Callable<Integer> {
  private static final int LARGEST_PORT = 65_535;
  private static final int REQUEST_SECONDS = 5;
  private static final int RESPONSE_SECONDS = 30;
  private static final int IDLE_SECONDS = 10;
  private static final int MOST_CONNECTIONS = 256;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--listen",
      paramLabel = "[ADDRESS]:PORT",
      defaultValue = "[::1]:9400",
      description = "Listening address (${DEFAULT-VALUE}); port 0 takes a free one.")
  private String listen = "";

  @Option(
      names = "--all-users",
      description =
          "Also serves the jobs of other users; without it, only those of the user who runs the"
              + " exporter.")
  private boolean allUsers;

  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  @Override
  public Integer call() throws InterruptedException {
    InetSocketAddress address = parse(listen);
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    StatsFolders folders = allUsers ? stats.folders() : stats.folders().ofThisUser();
    DaemonFaults.exitOnUncaughtError("heddle exporter", Log.toStandardError());
    try (HTTPServer server = start(address, folders)) {
      out.printf(
          "serving http://%s:%s/metrics%n",
          listen.substring(0, listen.lastIndexOf(':')), server.getPort());
      if (!allUsers) {
        out.println("jobs of other users are not served without --all-users");
      }
      out.flush();
      warn(folders, line.getErr());
      new CountDownLatch(1).await(); // until the process is ended
    }
    return 0;
  }

  /*
   * Warns of unreadable statistics once, at the start. Each scrape reads the files again, and has a
   * metric that counts the unreadable ones.
   */
  private static void warn(StatsFolders folders, PrintWriter err) {
    try {
      folders.read(null).unreadable().forEach(sentence -> err.println("heddle: " + sentence));
    } catch (HeddleException unreadable) {
      err.println("heddle: " + unreadable.getMessage());
    }
    err.flush();
  }

  /**
   * Starts the server.
   *
   * @throws HeddleException if it can't listen on the address
   */
  static HTTPServer start(InetSocketAddress address, StatsFolders folders) {
    limitRequestTimes();
    PrometheusRegistry registry = new PrometheusRegistry();
    registry.register(new Metrics(folders));
    try {
      return HTTPServer.builder()
          .inetAddress(address.getAddress())
          .port(address.getPort())
          .registry(registry)
          .buildAndStart();
    } catch (IOException failure) {
      throw new HeddleException(
          "can't listen on %s: %s; --listen names another address or port"
              .formatted(String.valueOf(address).replaceFirst("^.*/", ""), failure.getMessage()),
          failure);
    }
  }

  /*
   * Sets limits of the JDK's HTTP server. Without them, ten clients that send one byte per second
   * would block all scrapes. Values from Java's command line take precedence.
   */
  private static void limitRequestTimes() {
    setUnlessSet("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
    setUnlessSet("sun.net.httpserver.maxRspTime", RESPONSE_SECONDS);
    setUnlessSet("sun.net.httpserver.idleInterval", IDLE_SECONDS);
    setUnlessSet("jdk.httpserver.maxConnections", MOST_CONNECTIONS);
  }

  private static void setUnlessSet(String property, int value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, Integer.toString(value));
    }
  }

  private InetSocketAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (colon > 0 && port >= 0 && port <= LARGEST_PORT) {
        return new InetSocketAddress(InetAddress.getByName(text.substring(0, colon)), port);
      }
    } catch (NumberFormatException | UnknownHostException malformed) {
      /* The text is rejected below. */
    }
    throw new CommandLine.ParameterException(
        Objects.requireNonNull(spec).commandLine(),
        "--listen " + text + " is not an address and a port such as [::1]:9400 or 127.0.0.1:9400");
  }
}
