package io.heddle.telemetry.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.telemetry.client.TelemetryConnections;
import io.heddle.telemetry.client.TelemetryListener;
import io.heddle.telemetry.client.TelemetryTarget;
import io.heddle.telemetry.gnmi.GnmiMethods;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.proto.CapabilityRequest;
import io.heddle.telemetry.proto.CapabilityResponse;
import io.heddle.telemetry.proto.Encoding;
import io.heddle.telemetry.proto.Path;
import io.heddle.telemetry.proto.PathElem;
import io.heddle.telemetry.proto.SubscribeRequest;
import io.heddle.telemetry.proto.SubscribeResponse;
import io.heddle.telemetry.proto.Subscription;
import io.heddle.telemetry.proto.SubscriptionList;
import io.heddle.telemetry.proto.SubscriptionMode;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.tls.TestCertificates;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of telemetry over TLS on the loopback: delivery and refusals. */
@EndsWithin(120)
final class TelemetryTest {
  private static final GatewayReport REPORT = SampleReport.WHOLE;

  @TempDir private static java.nio.file.Path folder;
  private static TlsFiles gateway;
  private static TlsFiles controller;
  private static TlsFiles untrusted;

  private volatile GatewayReport report = REPORT;
  private volatile Error fault;
  private final AtomicInteger asked = new AtomicInteger();
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final Listener listener = new Listener();
  private final List<AutoCloseable> open = new ArrayList<>();
  private TelemetryServer server;

  private static final class Listener implements TelemetryListener {
    private final List<Decoded> received = new CopyOnWriteArrayList<>();
    private final List<String> lost = new CopyOnWriteArrayList<>();

    @Override
    public void received(Decoded update) {
      received.add(update);
    }

    @Override
    public void lost(String why) {
      lost.add(why);
    }
  }

  @BeforeAll
  static void sign() throws Exception {
    TestCertificates ours = TestCertificates.authority(folder, "authority");
    gateway = ours.sign("gw1", "DNS:gw1", "IP:::1");
    controller = ours.sign("controller", "DNS:controller");
    TlsFiles foreign = TestCertificates.authority(folder, "other").sign("stranger", "DNS:gw1");
    untrusted = new TlsFiles(foreign.certificate(), foreign.key(), gateway.authorities());
  }

  @BeforeEach
  void start() throws Exception {
    server = server(gateway);
  }

  private TelemetryServer server(TlsFiles files) throws Exception {
    TelemetryServer made =
        TelemetryServer.start(
            new InetSocketAddress(InetAddress.getByName("::1"), 0),
            files,
            () -> {
              asked.incrementAndGet();
              Error thrown = fault;
              if (thrown != null) {
                throw thrown;
              }
              return report;
            },
            (level, sentence) -> log.add(sentence));
    open.addFirst(made);
    return made;
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private void subscribe(int port, TlsFiles files, String serverName, ReportPath... paths) {
    TelemetryConnections connections = new TelemetryConnections(files);
    open.addFirst(connections);
    open.addFirst(
        connections.subscribe(
            new TelemetryTarget("gw1", "::1", port, serverName, List.of(paths), 50_000_000),
            listener));
  }

  private void await(String what, BooleanSupplier condition) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    while (!condition.getAsBoolean()) {
      assertTrue(
          !deadline.isOver(),
          () -> what + " didn't come; received " + listener.received + ", lost " + listener.lost);
      Thread.sleep(2);
    }
  }

  private void awaitDisconnect(String part) throws InterruptedException {
    await(part, () -> listener.lost.stream().anyMatch(each -> each.contains(part)));
    assertEquals(List.of(), listener.received);
  }

  @Test
  void reportsArriveUnchangedAndEndedFlowsDisappear() throws Exception {
    subscribe(server.port(), controller, null, ReportPath.values());
    await("all four", () -> listener.received.size() >= 4);
    assertEquals(
        List.of(
            new Decoded.Lists(REPORT.lists()),
            new Decoded.Elephants(REPORT.elephants()),
            new Decoded.Rules(REPORT.rules())),
        List.copyOf(listener.received).subList(0, 3));
    assertEquals(REPORT.interfaces(), ((Decoded.Counters) listener.received.get(3)).counters());
    report = new GatewayReport(1, List.of(), List.of(), List.of(), List.of());
    await("no elephants", () -> listener.received.contains(new Decoded.Elephants(List.of())));
  }

  @Test
  void serverListensInTheNamespaceOfItsStarter() throws Exception {
    Requirements.namespaces();
    try (NetworkNamespaces net = NetworkTopology.of("telemetry").create()) {
      NetworkNamespace elsewhere = net.node("telemetry");
      TelemetryServer second = elsewhere.call(() -> server(gateway));
      elsewhere.call(() -> {
        new Socket("::1", second.port()).close();
        return null;
      });
      second.close();
    }
  }

  @Test
  void samplesContinueAfterAGatewayRestart() throws Exception {
    int port = server.port();
    subscribe(port, controller, null, ReportPath.ELEPHANTS);
    await("a sample", () -> !listener.received.isEmpty());
    server.close();
    await("the loss", () -> !listener.lost.isEmpty());
    int before = listener.received.size();
    open.addFirst(
        TelemetryServer.start(
            new InetSocketAddress(InetAddress.getByName("::1"), port),
            gateway,
            () -> report,
            (level, sentence) -> {}));
    await("samples again", () -> listener.received.size() > before);
  }

  @Test
  void failedSampleIsRefusedAndLogged() throws Exception {
    fault = new AssertionError("on purpose");
    String said =
        refusal(list(subscription("gateway")).setMode(SubscriptionList.Mode.ONCE).build());
    assertTrue(said.contains("INTERNAL: the gateway can't answer"), said);
    assertTrue(log.getFirst().contains("on purpose"), log.toString());
  }

  @Test
  void samplesContinueAfterAFailure() throws Exception {
    subscribe(server.port(), controller, null, ReportPath.ELEPHANTS);
    await("a sample", () -> !listener.received.isEmpty());
    fault = new AssertionError("on purpose");
    await("the fault", () -> !log.isEmpty());
    int failed = asked.get();
    await("another try", () -> asked.get() > failed);
    fault = null;
    int before = listener.received.size();
    await("samples again", () -> listener.received.size() > before);
    assertEquals(List.of(), listener.lost);
  }

  @Test
  void clientOfAnotherAuthorityIsRefused() throws Exception {
    subscribe(server.port(), untrusted, null, ReportPath.ELEPHANTS);
    awaitDisconnect("rejects our certificate");
  }

  @Test
  void clientWithoutCertificateIsRefused() throws Exception {
    ManagedChannel bare =
        NettyChannelBuilder.forAddress("::1", server.port())
            .sslContext(
                GrpcSslContexts.configure(
                        SslContextBuilder.forClient().trustManager(gateway.authorities().toFile()),
                        SslProvider.JDK)
                    .build())
            .build();
    open.addFirst(bare::shutdownNow);
    Deadline deadline = Deadline.ofSeconds(30);
    String why = refusalOf(bare);
    /*
     * Tries again until the reason arrives: a client that is still writing when the server closes
     * the connection may not receive the reason.
     */
    while (!why.contains("certificate_required")) {
      assertFalse(deadline.isOver(), why);
      bare.resetConnectBackoff();
      why = refusalOf(bare);
    }
  }

  private static String refusalOf(ManagedChannel channel) {
    return String.valueOf(
        assertThrows(
                StatusRuntimeException.class,
                () ->
                    ClientCalls.blockingUnaryCall(
                        channel,
                        GnmiMethods.CAPABILITIES,
                        CallOptions.DEFAULT,
                        CapabilityRequest.getDefaultInstance()))
            .getCause());
  }

  @Test
  void gatewayOfAnotherAuthorityIsRefused() throws Exception {
    TlsFiles impostor =
        new TlsFiles(untrusted.certificate(), untrusted.key(), gateway.authorities());
    subscribe(server(impostor).port(), controller, "gw1", ReportPath.ELEPHANTS);
    awaitDisconnect("presents a certificate that we don't trust");
  }

  @Test
  void gatewayWithAnotherNameIsRefused() throws Exception {
    subscribe(server.port(), controller, "gw2", ReportPath.ELEPHANTS);
    awaitDisconnect("presents a certificate that we don't trust");
  }

  @Test
  void unreachableGatewayIsReported() throws Exception {
    int port = server.port();
    server.close();
    subscribe(port, controller, null, ReportPath.ELEPHANTS);
    awaitDisconnect("can't be reached");
  }

  private ManagedChannel channel() {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("::1", server.port())
            .sslContext(controller.client())
            .build();
    open.addFirst(channel::shutdownNow);
    return channel;
  }

  private List<SubscribeResponse> ask(SubscriptionList list) throws Exception {
    List<SubscribeResponse> answers = new CopyOnWriteArrayList<>();
    ask(list, answers::add).get();
    return answers;
  }

  private CompletableFuture<Void> ask(SubscriptionList list, Consumer<SubscribeResponse> answers) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    StreamObserver<SubscribeRequest> questions =
        ClientCalls.asyncBidiStreamingCall(
            channel().newCall(GnmiMethods.SUBSCRIBE, CallOptions.DEFAULT),
            new StreamObserver<SubscribeResponse>() {
              @Override
              public void onNext(SubscribeResponse answer) {
                answers.accept(answer);
              }

              @Override
              public void onError(Throwable failed) {
                end.completeExceptionally(failed);
              }

              @Override
              public void onCompleted() {
                end.complete(null);
              }
            });
    questions.onNext(SubscribeRequest.newBuilder().setSubscribe(list).build());
    return end;
  }

  private String refusal(SubscriptionList list) {
    return assertThrows(ExecutionException.class, () -> ask(list)).getCause().getMessage();
  }

  private static Subscription subscription(String... names) {
    Path.Builder path = Path.newBuilder();
    for (String each : names) {
      path.addElem(PathElem.newBuilder().setName(each));
    }
    return Subscription.newBuilder().setPath(path).setMode(SubscriptionMode.SAMPLE).build();
  }

  private static SubscriptionList.Builder list(Subscription subscription) {
    return SubscriptionList.newBuilder()
        .setEncoding(Encoding.JSON_IETF)
        .addSubscription(subscription);
  }

  @Test
  void onceAnswersAndEnds() throws Exception {
    List<SubscribeResponse> answers =
        ask(list(subscription("gateway", "elephants")).setMode(SubscriptionList.Mode.ONCE).build());
    assertEquals(2, answers.size());
    assertTrue(answers.getFirst().getUpdate().getAtomic());
    assertTrue(
        answers
            .getFirst()
            .getUpdate()
            .getUpdate(0)
            .getVal()
            .getJsonIetfVal()
            .toStringUtf8()
            .contains("\"queue-pair\":17"));
    assertTrue(answers.get(1).getSyncResponse());
  }

  @Test
  void updatesOnlyClientGetsTheSyncAtOnce() throws Exception {
    SubscriptionList.Builder wanted =
        list(subscription("gateway", "elephants")).setUpdatesOnly(true);
    List<SubscribeResponse> once = ask(wanted.setMode(SubscriptionList.Mode.ONCE).build());
    assertEquals(1, once.size());
    assertTrue(once.getFirst().getSyncResponse());
    List<SubscribeResponse> stream = new CopyOnWriteArrayList<>();
    ask(wanted.setMode(SubscriptionList.Mode.STREAM).build(), stream::add);
    await("a sample after the sync", () -> stream.size() > 1);
    assertTrue(stream.getFirst().getSyncResponse());
    assertTrue(stream.get(1).hasUpdate());
  }

  /*
   * Tests a path that is sampled right after one with a large answer: gRPC reports "not ready"
   * until an answer above 32 KiB is written.
   */
  @Test
  void pathAfterALargeOneIsSampledAsOften() throws Exception {
    report =
        new GatewayReport(
            1,
            REPORT.lists(),
            Collections.nCopies(1_000, SampleReport.ELEPHANT),
            REPORT.rules(),
            List.of());
    SubscriptionList wanted =
        list(subscription("gateway", "elephants"))
            .addSubscription(subscription("gateway", "rules"))
            .setMode(SubscriptionList.Mode.STREAM)
            .setUpdatesOnly(true)
            .build();
    List<String> samples = new CopyOnWriteArrayList<>();
    ask(
        wanted,
        each ->
            each.getUpdate()
                .getPrefix()
                .getElemList()
                .forEach(elem -> samples.add(elem.getName())));
    await("elephants", () -> Collections.frequency(samples, "elephants") >= 10);
    int elephants = Collections.frequency(samples, "elephants");
    await("the rules, too", () -> Collections.frequency(samples, "rules") >= elephants - 1);
    int rules = Collections.frequency(samples, "rules");
    assertTrue(
        Collections.frequency(samples, "elephants") <= 2 * rules, () -> rules + " of " + samples);
  }

  @Test
  void parentPathCoversItsChildren() throws Exception {
    assertEquals(
        4,
        ask(list(subscription("gateway")).setMode(SubscriptionList.Mode.ONCE).build()).size(),
        "three paths and the sync");
  }

  @Test
  void unknownPathIsRefusedWithTheListOfPaths() {
    String said = refusal(list(subscription("gateway", "elefants")).build());
    assertTrue(said.contains("NOT_FOUND: unknown path /gateway/elefants"), said);
    assertTrue(said.contains("/gateway/elephants"), said);
  }

  @Test
  void unsupportedRequestsAreRefused() {
    Subscription good = subscription("gateway");
    String onChange =
        refusal(list(good.toBuilder().setMode(SubscriptionMode.ON_CHANGE).build()).build());
    assertTrue(onChange.contains("ON_CHANGE isn't supported"), onChange);
    String encoding = refusal(list(good).setEncoding(Encoding.PROTO).build());
    assertTrue(encoding.contains("encoding PROTO isn't supported"), encoding);
    String interval = refusal(list(good.toBuilder().setSampleInterval(1_000).build()).build());
    assertTrue(interval.contains("1000 ns"), interval);
    assertTrue(
        refusal(SubscriptionList.newBuilder().setEncoding(Encoding.JSON).build())
            .contains("the list has no subscription"));
  }

  @Test
  void capabilitiesNameTheModel() {
    CapabilityResponse answer =
        ClientCalls.blockingUnaryCall(
            channel(),
            GnmiMethods.CAPABILITIES,
            CallOptions.DEFAULT,
            CapabilityRequest.getDefaultInstance());
    assertEquals("heddle-dci", answer.getSupportedModels(0).getName());
    assertEquals("0.8.0", answer.getGNMIVersion());
  }

  @Test
  void unusableFilesAreNamed() throws Exception {
    java.nio.file.Path empty = Files.writeString(folder.resolve("empty.pem"), "nothing\n");
    HeddleException noCertificate =
        assertThrows(
            HeddleException.class,
            () -> new TlsFiles(empty, gateway.key(), gateway.authorities()).server());
    assertTrue(noCertificate.getMessage().contains("empty.pem"), noCertificate.getMessage());
    HeddleException noKey =
        assertThrows(
            HeddleException.class,
            () -> new TlsFiles(gateway.certificate(), empty, gateway.authorities()).client());
    assertTrue(noKey.getMessage().contains("PKCS #8"), noKey.getMessage());
    HeddleException absent =
        assertThrows(
            HeddleException.class,
            () ->
                new TlsFiles(folder.resolve("no.pem"), gateway.key(), gateway.authorities())
                    .client());
    assertTrue(absent.getMessage().contains("no.pem can't be read"), absent.getMessage());
  }
}
