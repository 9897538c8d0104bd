package io.heddle.telemetry.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.server.TelemetryServer;
import io.heddle.telemetry.tls.TestCertificates;
import io.heddle.telemetry.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a controller with many targets, and of targets that start late. */
@EndsWithin(120)
final class TelemetryConnectionsTest {
  private static final int SEVERAL = 12;
  private static final long SHORT_PERMIT_MS = 100;

  @TempDir private static java.nio.file.Path folder;
  private static TlsFiles gateway;
  private static TlsFiles controller;

  private final List<AutoCloseable> open = new ArrayList<>();

  private static final class Listener implements TelemetryListener {
    private final AtomicInteger received = new AtomicInteger();
    private final List<String> lost = new CopyOnWriteArrayList<>();

    @Override
    public void received(Decoded update) {
      received.incrementAndGet();
    }

    @Override
    public void lost(String why) {
      lost.add(why);
    }
  }

  @BeforeAll
  static void sign() throws Exception {
    TestCertificates ours = TestCertificates.authority(folder, "authority");
    gateway = ours.sign("gw", "IP:::1");
    controller = ours.sign("controller", "DNS:controller");
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private TelemetryConnections connections(long longestPermitMs) {
    TelemetryConnections made = new TelemetryConnections(controller, longestPermitMs);
    open.addFirst(made);
    return made;
  }

  private Listener subscribe(TelemetryConnections connections, int port) {
    Listener listener = new Listener();
    open.addFirst(
        connections.subscribe(
            new TelemetryTarget(
                "gw", "::1", port, null, List.of(ReportPath.ELEPHANTS), 1_000_000_000),
            listener));
    return listener;
  }

  private TelemetryServer server(int port) throws IOException {
    TelemetryServer made =
        TelemetryServer.start(
            new InetSocketAddress(InetAddress.getByName("::1"), port),
            gateway,
            () -> new GatewayReport(1, List.of(), List.of(), List.of(), List.of()),
            (level, sentence) -> {});
    open.addFirst(made);
    return made;
  }

  /*
   * Returns a socket whose connections are accepted and then either closed at once or left without
   * an answer.
   */
  private ServerSocket accepting(AtomicInteger accepted, boolean hangsUp) throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("::1"));
    open.addFirst(server);
    Thread.ofVirtual()
        .start(() -> {
          List<Socket> kept = new ArrayList<>();
          try {
            while (true) {
              Socket each = server.accept();
              accepted.incrementAndGet();
              if (hangsUp) {
                each.close();
              } else {
                kept.add(each);
              }
            }
          } catch (IOException closed) {
            kept.forEach(TelemetryConnectionsTest::hangUp);
          }
        });
    return server;
  }

  private static void hangUp(Socket socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      /* Closed by the test. */
    }
  }

  private static void await(BooleanSupplier condition, List<Listener> listeners)
      throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (!condition.getAsBoolean()) {
      assertTrue(
          !deadline.isOver(), () -> listeners.stream().map(each -> each.lost).toList().toString());
      Thread.sleep(2);
    }
  }

  @Test
  void moreGatewaysThanPermitsAllConnect() throws Exception {
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < SEVERAL; i++) {
      ports.add(server(0).port());
    }
    TelemetryConnections connections = connections(60_000);
    List<Listener> listeners = ports.stream().map(port -> subscribe(connections, port)).toList();
    await(() -> listeners.stream().allMatch(each -> each.received.get() > 0), listeners);
    assertTrue(listeners.stream().allMatch(each -> each.lost.isEmpty()));
  }

  @Test
  void silentHostsDoNotBlockAGateway() throws Exception {
    AtomicInteger accepted = new AtomicInteger();
    int mute = accepting(accepted, false).getLocalPort();
    TelemetryConnections connections = connections(SHORT_PERMIT_MS);
    List<Listener> listeners = new ArrayList<>();
    for (int i = 0; i < SEVERAL; i++) {
      listeners.add(subscribe(connections, mute));
    }
    Listener good = subscribe(connections, server(0).port());
    listeners.add(good);
    await(() -> good.received.get() > 0, listeners);
    assertTrue(accepted.get() > 0, "the silent hosts had permits");
  }

  @Test
  void eachAttemptOpensAChannelSoThatGrpcBackOffDoesNotApply() throws Exception {
    AtomicInteger accepted = new AtomicInteger();
    ServerSocket away = accepting(accepted, true);
    Listener listener = subscribe(connections(SHORT_PERMIT_MS), away.getLocalPort());
    await(() -> listener.lost.size() >= 4, List.of(listener));
    int tries = listener.lost.size();
    await(() -> accepted.get() >= tries, List.of(listener));
    away.close();
    server(away.getLocalPort());
    await(() -> listener.received.get() > 0, List.of(listener));
  }
}
