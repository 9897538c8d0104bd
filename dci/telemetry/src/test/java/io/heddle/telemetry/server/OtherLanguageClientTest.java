package io.heddle.telemetry.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.telemetry.tls.TestCertificates;
import io.heddle.telemetry.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with a client of another implementation: Python, with gRPC's C core, which has its own TLS
 * and HTTP/2, and protobuf's Python messages.
 */
@EndsWithin(120)
final class OtherLanguageClientTest {
  private static final String PYTHON = "/usr/bin/python3";
  private static final Path CLIENT = Path.of("src/test/python/gnmi_client.py");
  private static final String ELEPHANT =
      "{\"path\":"
          + " \"/gateway/elephants/elephant[destination=fc00:2::2][queue-pair=17][source=fc00:1::1]\"";
  private static final String COUNTER =
      "{\"path\": \"/interfaces/interface[name=w1]/state/counters/out-octets\", \"value\": 99}";
  private static final String SYNC = "{\"sync\": true}";

  @TempDir private static Path folder;
  private static TlsFiles gateway;
  private static TlsFiles controller;
  private static TlsFiles untrusted;

  private TelemetryServer server;

  private record Result(int exit, List<String> lines) {}

  @BeforeAll
  static void prepare() throws Exception {
    Result packages = run(List.of(PYTHON, "-c", "import grpc, google.protobuf"));
    skipUnless(packages.exit() == 0, "python3-grpcio or python3-protobuf isn't installed");
    TestCertificates ours = TestCertificates.authority(folder, "authority");
    gateway = ours.sign("gw1", "DNS:gw1");
    controller = ours.sign("controller", "DNS:controller");
    untrusted = TestCertificates.authority(folder, "other").sign("stranger", "DNS:gw1");
    Path proto = Path.of("src/main/protobuf").toAbsolutePath();
    Result compiled =
        run(List.of("protoc", "-I" + proto, "--python_out=" + folder, proto + "/gnmi.proto"));
    skipUnless(compiled.exit() != 127, "protobuf-compiler isn't installed");
    assertEquals(0, compiled.exit(), compiled.toString());
  }

  private static void skipUnless(boolean fits, String reason) {
    if (!fits) {
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
  }

  @BeforeEach
  void start() throws IOException {
    server =
        TelemetryServer.start(
            new InetSocketAddress(InetAddress.getByName("::1"), 0),
            gateway,
            () -> SampleReport.WHOLE,
            (level, sentence) -> {});
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static Result run(List<String> command) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException missing) {
      return new Result(127, List.of(String.valueOf(missing.getMessage())));
    }
    try {
      String result = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), result.lines().toList());
    } finally {
      process.destroyForcibly();
    }
  }

  private Result call(String method, String path, Path... files) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                PYTHON,
                CLIENT.toAbsolutePath().toString(),
                folder.toString(),
                Integer.toString(server.port()),
                method,
                path));
    for (Path each : files) {
      command.add(each.toString());
    }
    return run(command);
  }

  private Result call(String method, String path) throws Exception {
    return call(method, path, controller.certificate(), controller.key(), controller.authorities());
  }

  @Test
  void clientOfAnotherLanguageReadsElephantsOnce() throws Exception {
    Result result = call("once", "gateway/elephants");
    assertEquals(0, result.exit(), result.toString());
    assertEquals(2, result.lines().size(), result.toString());
    String elephant = result.lines().getFirst();
    assertTrue(elephant.startsWith(ELEPHANT), elephant);
    assertTrue(elephant.contains("\"octets\": \"" + (1L << 60) + "\""), elephant);
    assertTrue(elephant.contains("\"list-by-hash\": 2"), elephant);
    assertEquals(SYNC, result.lines().get(1));
  }

  @Test
  void clientOfAnotherLanguageStreamsSamples() throws Exception {
    Result result = call("stream", "interfaces");
    assertEquals(0, result.exit(), result.toString());
    assertEquals(COUNTER, result.lines().getFirst());
    int sync = result.lines().indexOf(SYNC);
    assertTrue(sync > 0, result.toString());
    assertTrue(
        result.lines().subList(sync, result.lines().size()).contains(COUNTER), result.toString());
  }

  @Test
  void clientOfAnotherLanguagePolls() throws Exception {
    Result result = call("poll", "interfaces");
    assertEquals(0, result.exit(), result.toString());
    assertTrue(result.lines().contains(COUNTER), result.toString());
  }

  @Test
  void clientOfAnotherLanguageReadsCapabilities() throws Exception {
    assertEquals(
        List.of("{\"version\": \"0.8.0\", \"models\": [\"heddle-dci\"]}"),
        call("capabilities", "-").lines());
  }

  @Test
  void clientOfAnotherLanguageGetsTheListOfPathsOnError() throws Exception {
    Result result = call("once", "gateway/elefants");
    assertEquals(1, result.exit());
    assertTrue(result.lines().getFirst().contains("NOT_FOUND"), result.toString());
    assertTrue(result.lines().getFirst().contains("/gateway/elephants"), result.toString());
  }

  @Test
  void clientWithoutTrustedCertificateIsRefused() throws Exception {
    Result bare = call("once", "gateway/elephants", gateway.authorities());
    assertRefused(bare);
    Result other =
        call(
            "once",
            "gateway/elephants",
            untrusted.certificate(),
            untrusted.key(),
            gateway.authorities());
    assertRefused(other);
  }

  private static void assertRefused(Result result) {
    assertEquals(1, result.exit(), result.toString());
    assertTrue(result.lines().getLast().startsWith("{\"refused\""), result.toString());
    assertTrue(result.lines().stream().noneMatch(each -> each.contains("path")), result.toString());
  }
}
