package io.heddle.gateway.observe;

import io.heddle.addr.HostAddresses;
import io.heddle.gateway.config.TelemetryConfig;
import io.heddle.platform.Log;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.server.TelemetryServer;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;

/**
 * Telemetry server of a router that only reports the load of its links. It changes nothing on its
 * host: no program, routes or rules. Its reports contain no lists, elephants or rules.
 */
public final class Observer implements AutoCloseable {
  private static final long NS_PER_SECOND = 1_000_000_000;

  private final TelemetryServer server;

  private Observer(TelemetryServer server) {
    this.server = server;
  }

  /**
   * Serves telemetry of the calling thread's network namespace.
   *
   * @throws io.heddle.platform.HeddleException if a file or the address can't be used
   */
  public static Observer start(TelemetryConfig config, Log log) {
    return new Observer(
        TelemetryServer.start(
            new InetSocketAddress(config.address(), config.port()),
            config.files(),
            Observer::sample,
            log));
  }

  /** Samples the calling thread's network namespace. */
  static GatewayReport sample() {
    Instant now = Instant.now();
    return new GatewayReport(
        now.getEpochSecond() * NS_PER_SECOND + now.getNano(),
        List.of(),
        List.of(),
        List.of(),
        InterfaceCounters.read(HostAddresses.read()));
  }

  @Override
  public void close() {
    server.close();
  }
}
