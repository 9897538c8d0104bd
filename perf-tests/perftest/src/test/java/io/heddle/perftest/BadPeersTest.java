package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.TcpPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Tests with peers that aren't perftest, or that end early. Each test must end without delay, with
 * an error message of one sentence.
 */
@EndsWithin(30)
final class BadPeersTest {
  private static final int VERSION_BYTES = 16;

  private interface Peer {
    void talk(Socket socket) throws IOException;
  }

  /* Runs a peer behind a port, and a dialogue with this peer. Returns the dialogue's failure. */
  private static String failure(Peer peer, Consumer<PerftestDialogue> conversation)
      throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      Thread thread =
          new Thread(() -> {
            try (Socket socket = listener.accept()) {
              peer.talk(socket);
            } catch (IOException alreadyGone) {
              /* The tested side has closed the connection first. */
            }
          });
      thread.start();
      try (ControlConnection connection =
          ControlConnection.connect("127.0.0.1", listener.getLocalPort())) {
        conversation.accept(new PerftestDialogue(connection));
        return "";
      } catch (HeddleException failed) {
        return failed.getMessage().replaceAll("port [0-9]+", "port N");
      } finally {
        thread.join();
      }
    }
  }

  private static byte[] version(String text) {
    return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
  }

  private static void readVersion(Socket socket) throws IOException {
    assertEquals(VERSION_BYTES, socket.getInputStream().readNBytes(VERSION_BYTES).length);
  }

  @Test
  void foreignServerIsQuoted() throws Exception {
    String banner = "SSH-2.0-OpenSSH_9.2p1 Debian\r\n";
    assertEquals(
        "127.0.0.1 port N is not perftest: it sent \"SSH-2.0-OpenSSH_\" where a version was"
            + " expected",
        failure(
            socket -> socket.getOutputStream().write(banner.getBytes(StandardCharsets.US_ASCII)),
            PerftestDialogue::exchangeVersions));
  }

  @Test
  void shortAnswerIsNoVersion() throws Exception {
    assertEquals(
        "127.0.0.1 port N is not perftest: it sent \"no..\" where a version was expected",
        failure(
            socket -> {
              readVersion(socket);
              socket.getOutputStream().write("no\r\n".getBytes(StandardCharsets.US_ASCII));
            },
            PerftestDialogue::exchangeVersions));
  }

  @Test
  void closeWithoutAnswerSuggestsCheckingPeer() throws Exception {
    assertEquals(
        "127.0.0.1 port N disconnected while this end waited for perftest's version (it closed its"
            + " connection); check that it is perftest, and idle",
        failure(BadPeersTest::readVersion, PerftestDialogue::exchangeVersions));
  }

  @Test
  void oldPerftestIsRefused() throws Exception {
    assertEquals(
        "127.0.0.1 port N runs perftest 5.60; at least 5.70 is required",
        failure(
            socket -> {
              readVersion(socket);
              socket.getOutputStream().write(version("5.60"));
              socket.getInputStream().read();
            },
            PerftestDialogue::exchangeVersions));
  }

  @Test
  void invalidBufferSizeIsRefused() throws Exception {
    String output =
        failure(
            socket -> {
              readVersion(socket);
              socket.getOutputStream().write(version("6.06"));
              socket.getInputStream().readNBytes(Integer.BYTES);
              socket.getOutputStream().write(new byte[] {(byte) 0x80, 0, 0, 0});
              socket.getInputStream().read();
            },
            dialogue -> {
              assertEquals("6.06", dialogue.exchangeVersions());
              dialogue.exchangeBufferRules();
            });
    assertTrue(output.contains("its page size of -2147483648 bytes"), output);
  }

  @Test
  void distinguishesStockPerftestFromHeddle() throws Exception {
    for (boolean heddle : new boolean[] {false, true}) {
      String output =
          failure(
              socket -> {
                readVersion(socket);
                socket
                    .getOutputStream()
                    .write(heddle ? PerftestDialogue.versionRecord() : version("6.29"));
              },
              dialogue -> {
                dialogue.exchangeVersions();
                assertEquals(heddle, dialogue.isPeerHeddle());
              });
      assertEquals("", output);
    }
  }

  @Test
  void portWithoutListenerIsNamedWithRemedy() throws Exception {
    HeddleException failed =
        org.junit.jupiter.api.Assertions.assertThrows(
            HeddleException.class,
            () -> ControlConnection.connect("127.0.0.1", TcpPorts.free()).close());
    assertNotNull(failed.getMessage());
    assertTrue(failed.getMessage().contains("Connection refused"), failed.getMessage());
    assertTrue(failed.getMessage().contains("start the server first"), failed.getMessage());
  }

  @Test
  void portInUseIsNamed() throws Exception {
    try (ServerSocket other = new ServerSocket(0)) {
      HeddleException failed =
          org.junit.jupiter.api.Assertions.assertThrows(
              HeddleException.class,
              () -> new ControlConnection.Listener(other.getLocalPort()).close());
      assertTrue(
          failed.getMessage().startsWith("can't listen on TCP port " + other.getLocalPort()),
          failed.getMessage());
    }
  }
}
