package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with hundreds of unauthenticated clients at the control ports and reconnect listeners of a
 * process.
 */
@EndsWithin(120)
class FloodTest {
  private static final int LISTENERS = 3;
  private static final int CALLS = 900;

  /* Limits of UnauthenticatedChannels, in all and per address. */
  private static final int MOST = 384;
  private static final int MAX_PER_ADDRESS = 192;

  @TempDir Path folder;

  private Ends ends() {
    return new Ends(new LoopbackFabric(1), folder, List.of(1), List.of(1), Map.of());
  }

  private static int descriptors() {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      int count = 0;
      for (Path each : open) {
        count++;
      }
      return count;
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static ConnectionHandle read(long handle) {
    return Objects.requireNonNull(ConnectionHandle.read(handle));
  }

  private static SocketChannel rawClient(InetAddress from, InetSocketAddress to)
      throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.bind(new InetSocketAddress(from, 0));
    channel.configureBlocking(false);
    channel.connect(to);
    return channel;
  }

  /* Returns the number of connections that are still open. */
  private static int openOf(List<SocketChannel> clients) {
    int count = 0;
    ByteBuffer one = ByteBuffer.allocate(64);
    for (SocketChannel each : clients) {
      try {
        if (each.finishConnect() && each.read(one.clear()) >= 0) {
          count++;
        }
      } catch (IOException reset) {
        continue;
      }
    }
    return count;
  }

  private static void closeAll(List<SocketChannel> clients) throws IOException {
    for (SocketChannel each : clients) {
      each.close();
    }
  }

  /**
   * Opens 900 idle connections to each of three listeners of one process, from one address or from
   * many. Peers still connect meanwhile, and nothing is left afterwards.
   */
  private void flood(int addresses, int most) throws IOException {
    try (Ends ends = ends()) {
      List<Long> handles = new ArrayList<>();
      List<ListenComm> listeners = new ArrayList<>();
      for (int i = 0; i < LISTENERS; i++) {
        handles.add(ends.handle());
        listeners.add(ends.right.listen(0, handles.getLast()));
      }
      ends.connect().close();
      int before = descriptors();
      List<SocketChannel> clients = new ArrayList<>();
      try {
        for (int i = 0; i < LISTENERS * CALLS; i++) {
          InetAddress from = InetAddress.getByName("127.0." + (90 + i % addresses) + ".1");
          clients.add(rawClient(from, read(handles.get(i % LISTENERS)).addresses().getFirst()));
        }
        long slowestNs = 0;
        for (int i = 0; i < LISTENERS; i++) {
          long start = System.nanoTime();
          try (Ends.Link link = ends.connect(listeners.get(i), handles.get(i))) {
            slowestNs = Math.max(slowestNs, System.nanoTime() - start);
            ends.exchange(link, 1000, 1000, i);
          }
        }
        System.out.println(
            "a peer came in beside the flood after " + slowestNs / 1_000_000 + " ms");
        Ends.await("as few strangers as may wait", () -> openOf(clients) <= most);
      } finally {
        closeAll(clients);
      }
      Ends.await("their descriptors", () -> descriptors() <= before);
      try (Ends.Link link = ends.connect()) {
        ends.exchange(link, 1000, 1000, 9);
      }
      listeners.forEach(ListenComm::close);
    }
  }

  @Test
  void nineHundredIdleCallersPerListenerDelayNoPeer() throws IOException {
    flood(1, MAX_PER_ADDRESS);
  }

  @Test
  void idleCallersFromManyAddressesLockNoPeerOut() throws IOException {
    flood(50, MOST);
  }

  @Test
  void idleCallersAtReconnectListenersLockNoPeersOut() throws IOException {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      List<SocketChannel> clients = new ArrayList<>();
      try {
        InetAddress from = InetAddress.getByName("127.0.90.1");
        List<InetSocketAddress> doors =
            ends.right.reconnectAddresses().stream()
                .filter(door -> door.getAddress() instanceof Inet4Address)
                .toList();
        assertFalse(doors.isEmpty());
        for (InetSocketAddress door : doors) {
          for (int i = 0; i < CALLS; i++) {
            clients.add(rawClient(from, door));
          }
        }
        /* The connection's own reconnect uses the same reconnect listeners. */
        Ends.session(link.sending()).renew("as injected");
        ends.awaitLine("the control channel now uses");
        ends.exchange(link, 1000, 1000, 3);
        Ends.await("as few strangers as may wait", () -> openOf(clients) <= MAX_PER_ADDRESS);
      } finally {
        closeAll(clients);
      }
    }
  }

  /** Single bytes don't extend the time for a peer's first message. */
  @Test
  void callerWithAByteASecondIsEvictedInTime() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      InetSocketAddress to = read(handle).addresses().getFirst();
      try (Socket slow = new Socket(to.getAddress(), to.getPort())) {
        slow.setSoTimeout(1_000);
        slow.getOutputStream().write(new byte[] {0, 0, 0});
        int sent = 3;
        boolean gone = false;
        while (!gone && sent < 60) {
          try {
            gone = slow.getInputStream().read() < 0;
          } catch (java.net.SocketTimeoutException stillThere) {
            /*
             * Byte 3 is the last byte of a frame's length. The bytes after it could be the Hello of
             * another version.
             */
            slow.getOutputStream().write(sent++ == 3 ? 200 : 1);
          } catch (IOException reset) {
            gone = true;
          }
        }
        assertTrue(gone, "it was not closed");
      }
      ends.awaitLine("showed no token within 10000 ms");
      listener.close();
    }
  }

  @Test
  void frameBeforeAuthenticationIsNoLongerThanAHello() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      InetSocketAddress to = read(handle).addresses().getFirst();
      try (Socket hungry = new Socket(to.getAddress(), to.getPort())) {
        hungry.getOutputStream().write(new byte[] {0, 0, 1, 1});
        assertEquals(-1, hungry.getInputStream().read());
      }
      ends.awaitLine("a frame of 257 bytes");
      listener.close();
    }
  }
}
