package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlMessage.ReconnectAddresses;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with other programs at the addresses of a handle, or at the reconnect addresses of a peer.
 */
class ForeignProgramsTest {
  private static final int SOON_SECONDS = 5;

  @TempDir Path folder;

  private Ends ends(Map<String, String> more) {
    return new Ends(new LoopbackFabric(1), folder, List.of(1), List.of(1), more);
  }

  private static ConnectionHandle read(long handle) {
    return Objects.requireNonNull(ConnectionHandle.read(handle));
  }

  /* Returns the error of connect if only this program is at the handle's address. */
  private String failureAt(ForeignServer server) {
    try (Ends ends = ends(Map.of("HEDDLE_CONNECT_TIMEOUT_MS", "60000"))) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ConnectionHandle real = read(handle);
      new ConnectionHandle(real.token(), real.planeDigest(), List.of(server.address()))
          .write(handle);
      Deadline deadline = Deadline.ofSeconds(SOON_SECONDS);
      HeddleException failure =
          assertThrows(
              HeddleException.class,
              () -> Ends.await("failure", () -> ends.left.connect(0, -1, handle) != null));
      assertFalse(deadline.isOver(), "at once");
      listener.close();
      return String.valueOf(failure.getMessage());
    }
  }

  @Test
  void echoServerIsNotTakenForTheListener() throws IOException {
    try (ForeignServer echo = ForeignServer.echo()) {
      assertEquals(
          "the listener can't be reached: 127.0.0.1:%s echoes what is sent to it; it isn't the"
                  .formatted(echo.address().getPort())
              + " listener, see which program has that port",
          failureAt(echo));
    }
  }

  @Test
  void webServersAnswerIsIdentified() throws IOException {
    try (ForeignServer http = ForeignServer.http()) {
      assertEquals(
          "the listener can't be reached: 127.0.0.1:%s: it said \"HTTP/1.1 400 Bad Request\", as a"
                  .formatted(http.address().getPort())
              + " web server or an HTTP proxy answers; it isn't Heddle",
          failureAt(http));
    }
  }

  @Test
  void tlsAlertIsIdentified() throws IOException {
    try (ForeignServer tls = new ForeignServer(HexFormat.of().parseHex("15030300020246"))) {
      String failure = failureAt(tls);
      assertTrue(failure.contains(": it sent a TLS alert (number 70), as a server of"), failure);
    }
  }

  @Test
  void listenerIsFoundBehindThemAndTheyAreReported() throws IOException {
    try (Ends ends = ends(Map.of());
        ForeignServer echo = ForeignServer.echo();
        ForeignServer http = ForeignServer.http()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ConnectionHandle real = read(handle);
      List<InetSocketAddress> all =
          List.of(echo.address(), http.address(), real.addresses().getFirst());
      new ConnectionHandle(real.token(), real.planeDigest(), all).write(handle);
      try (Ends.Link link = ends.connect(listener, handle)) {
        ends.exchange(link, 1000, 1000, 1);
      }
      String line = ends.line("answered at last, after");
      assertTrue(line.contains(echo.address().getPort() + " echoes what is sent to it"), line);
      assertTrue(line.contains("HTTP/1.1 400 Bad Request"), line);
    }
  }

  /* The peer is silent, and other programs have its ports. */
  @Test
  void peerWithForeignProgramsAtItsAddressesFailsAfterTheGraceTime() throws IOException {
    CountDownLatch over = new CountDownLatch(1);
    try (Ends ends = ends(Map.of("HEDDLE_GRACE_MS", "1000"));
        ForeignServer echo = ForeignServer.echo();
        ForeignServer http = ForeignServer.http();
        Ends.Link link = ends.connect()) {
      ends.exchange(link, 1000, 1000, 1);
      ReconnectAddresses theirs =
          new ReconnectAddresses(new byte[16], List.of(echo.address(), http.address()));
      ends.right.loop().execute(() -> await(over));
      ends.left.loop().execute(() -> Ends.session(link.sending()).peerAddressesChanged(theirs));
      Ends.session(link.sending()).renew("a test");
      Ends.await("end", () -> !link.sending().health().isPeerAlive());
      over.countDown();
      String line = link.sending().health().peerReason();
      assertTrue(line.contains(", and none of its reconnect addresses ["), line);
      assertTrue(line.contains(Integer.toString(echo.address().getPort())), line);
    } finally {
      over.countDown();
    }
  }

  private static void await(CountDownLatch over) {
    try {
      over.await(SOON_SECONDS * 4, TimeUnit.SECONDS);
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    }
  }
}
