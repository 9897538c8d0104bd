package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.PlaneDigest;
import io.heddle.transport.device.PeerFailure;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of clients at a control port that speak the protocol but aren't the peer. */
class UnauthenticatedChannelsTest {
  private static final int LIMIT_MS = 10_000;

  /* Longer than the 5 s in which a client that disconnected may connect again. */
  private static final long LONGER_THAN_A_NEXT_CALL_NS = 6_000_000_000L;

  @TempDir Path folder;

  private Ends ends() {
    return new Ends(new LoopbackFabric(1), folder, List.of(1), List.of(1), Map.of());
  }

  private static Socket call(ConnectionHandle handle, ControlMessage message) throws IOException {
    Socket socket =
        new Socket(
            handle.addresses().getFirst().getAddress(), handle.addresses().getFirst().getPort());
    socket.setSoTimeout(LIMIT_MS);
    ByteBuffer frame = ControlCodec.encode(message, ControlCodec.newFrame());
    socket.getOutputStream().write(frame.array(), 0, frame.limit());
    return socket;
  }

  private static ConnectionHandle read(long handle) {
    return Objects.requireNonNull(ConnectionHandle.read(handle));
  }

  @Test
  void callerWithoutTheTokenGetsNoAnswerAndTheListenerLivesOn() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      byte[] wrong = read(handle).token();
      wrong[15] ^= 1;
      try (Socket client =
          call(read(handle), new ControlMessage.Hello(ControlCodec.VERSION, 0, wrong, 7))) {
        assertEquals(-1, client.getInputStream().read(), "the channel is closed without an answer");
      }
      assertNull(ends.right.accept(listener));
      Ends.await("a line about the token", () -> logged(ends, "token"));
      try (Ends.Link link = ends.connect(listener, handle)) {
        ends.exchange(link, 1000, 1000, 1);
      }
    }
  }

  @Test
  void callerThatNeverReturnsFailsOneAccept() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      hangUpAfterHello(read(handle), 7);
      hangUpAfterHello(read(handle), 7);
      try (Ends.Link link = ends.connect(listener, handle)) {
        ends.exchange(link, 1000, 1000, 1);
        /*
         * The listener sees the end of the stream on a read, or a broken pipe on a write, whichever
         * comes first.
         */
        String message = failureOfAccept(ends, listener);
        assertTrue(message.startsWith("127.0.0.1:"), message);
        assertNull(ends.right.accept(listener), "a second failure for one caller");
      }
    }
  }

  @Test
  void callerThatHangsUpOnOneOfTwoCallsFailsNoAcceptUntilTheOtherEnds() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      hangUpAfterHello(read(handle), 7);
      try (Socket slow = call(read(handle), hello(read(handle), 7))) {
        assertTrue(slow.getInputStream().read() >= 0, "an answer");
        noAcceptFor(ends, listener, LONGER_THAN_A_NEXT_CALL_NS);
      }
      failureOfAccept(ends, listener);
      listener.close();
    }
  }

  @Test
  void slowListenerIsConnectedOnceDespiteSeveralAddresses() throws IOException {
    try (Ends ends = ends();
        DelayedCallRelay first = new DelayedCallRelay();
        DelayedCallRelay second = new DelayedCallRelay()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ConnectionHandle real = read(handle);
      InetSocketAddress behind = real.addresses().getFirst();
      new ConnectionHandle(
              real.token(), real.planeDigest(), List.of(first.address(), second.address()))
          .write(handle);
      assertNull(ends.left.connect(0, -1, handle), "no answer yet");
      /* The second address is tried after 2 s; both relays answer only then. */
      second.awaitCall();
      first.forwardTo(behind);
      second.forwardTo(behind);
      try (Ends.Link link = ends.connect(listener, handle)) {
        String line = ends.line("answered at last, after");
        assertTrue(line.contains(first.address().getPort() + ": no answer within 2000 ms"), line);
        noAcceptFor(ends, listener, LONGER_THAN_A_NEXT_CALL_NS);
        ends.exchange(link, 1000, 1000, 1);
      }
    }
  }

  private static void noAcceptFor(Ends ends, ListenComm listener, long timeNs) {
    long untilNs = System.nanoTime() + timeNs;
    Ends.await(
        "its time",
        () -> {
          assertNull(ends.right.accept(listener));
          return System.nanoTime() - untilNs > 0;
        });
  }

  private static String failureOfAccept(Ends ends, ListenComm listener) {
    HeddleException failure =
        assertThrows(
            HeddleException.class,
            () -> Ends.await("failure", () -> ends.right.accept(listener) != null));
    return String.valueOf(failure.getMessage());
  }

  private static ControlMessage.Hello hello(ConnectionHandle handle, long call) {
    return new ControlMessage.Hello(ControlCodec.VERSION, 0, handle.token(), call);
  }

  /* Disconnects after the answer: the listener then knows that the client has its token. */
  private static void hangUpAfterHello(ConnectionHandle handle, long call) throws IOException {
    try (Socket caller = call(handle, hello(handle, call))) {
      assertTrue(caller.getInputStream().read() >= 0, "an answer");
    }
  }

  @Test
  void callerOfAnotherVersionGetsBothVersions() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ControlMessage hello =
          new ControlMessage.Hello(ControlCodec.VERSION + 1, 0, read(handle).token(), 7);
      try (Socket client = call(read(handle), hello)) {
        DataInputStream in = new DataInputStream(client.getInputStream());
        byte[] frame = new byte[in.readInt()];
        in.readFully(frame);
        ControlMessage answer = ControlCodec.decode(ByteBuffer.wrap(frame));
        String reason = assertInstanceOf(ControlMessage.Refused.class, answer).reason();
        assertTrue(
            reason.contains("version " + (ControlCodec.VERSION + 1))
                && reason.contains("version " + ControlCodec.VERSION),
            reason);
      }
      listener.close();
    }
  }

  /* Puts these addresses before the listener's address in a handle. */
  private static void prependAddresses(long handle, List<InetSocketAddress> addresses) {
    ConnectionHandle real = read(handle);
    List<InetSocketAddress> all = new ArrayList<>(addresses);
    all.add(real.addresses().getFirst());
    new ConnectionHandle(real.token(), real.planeDigest(), all).write(handle);
  }

  private static InetSocketAddress address(ServerSocket socket) {
    return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
  }

  @Test
  void unreachableAndForeignAddressesAreSkippedInBoundedTime() throws IOException {
    InetAddress here = InetAddress.getByName("127.0.0.1");
    try (Ends ends =
            new Ends(
                new LoopbackFabric(1),
                folder,
                List.of(1),
                List.of(1),
                Map.of("HEDDLE_CONNECT_TIMEOUT_MS", "10000"));
        ServerSocket closed = new ServerSocket(0, 1, here);
        ServerSocket silent = new ServerSocket(0, 1, here)) {
      closed.close();
      long othersHandle = ends.handle();
      ListenComm other = ends.left.listen(0, othersHandle);
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      InetSocketAddress others = read(othersHandle).addresses().getFirst();
      prependAddresses(handle, List.of(address(closed), address(silent), others));
      long start = System.nanoTime();
      try (Ends.Link link = ends.connect(listener, handle)) {
        assertTrue(System.nanoTime() - start >= 1_900_000_000, "the silent one was given its time");
        ends.exchange(link, 1000, 1000, 1);
      }
      String line = ends.line("answered at last, after");
      for (String part :
          List.of(
              closed.getLocalPort() + ": can't connect",
              silent.getLocalPort() + ": no answer within 2000 ms",
              others.getPort() + ": the peer closed the connection")) {
        assertTrue(line.contains(part), line);
      }
      other.close();
    }
  }

  @Test
  void failedConnectReportsEachAddress() throws IOException {
    InetAddress here = InetAddress.getByName("127.0.0.1");
    try (Ends ends =
            new Ends(
                new LoopbackFabric(1),
                folder,
                List.of(1),
                List.of(1),
                Map.of("HEDDLE_CONNECT_TIMEOUT_MS", "900"));
        ServerSocket closed = new ServerSocket(0, 1, here);
        ServerSocket silent = new ServerSocket(0, 1, here)) {
      closed.close();
      long handle = ends.handle();
      ends.right.listen(0, handle).close();
      ConnectionHandle real = read(handle);
      new ConnectionHandle(
              real.token(), real.planeDigest(), List.of(address(closed), address(silent)))
          .write(handle);
      Deadline deadline = Deadline.ofSeconds(10);
      PeerFailure failure =
          assertThrows(
              PeerFailure.class,
              () -> Ends.await("failure", () -> ends.left.connect(0, -1, handle) != null));
      assertFalse(deadline.isOver(), "in bounded time");
      String message = String.valueOf(failure.getMessage());
      for (String part :
          List.of(
              "the listener can't be reached: ",
              closed.getLocalPort() + ": can't connect",
              silent.getLocalPort() + " did not answer within 900 ms")) {
        assertTrue(message.contains(part), message);
      }
    }
  }

  @Test
  void unreachableNetworkIsRetriedForTheWholeTimeout() throws IOException {
    try (Ends ends =
        new Ends(
            new LoopbackFabric(1),
            folder,
            List.of(1),
            List.of(1),
            Map.of("HEDDLE_CONNECT_TIMEOUT_MS", "900"))) {
      long handle = ends.handle();
      ends.right.listen(0, handle).close();
      ConnectionHandle real = read(handle);
      /* The kernel opens no TCP connection to a broadcast address. */
      InetSocketAddress nowhere =
          new InetSocketAddress(InetAddress.getByName("127.255.255.255"), 7);
      new ConnectionHandle(real.token(), real.planeDigest(), List.of(nowhere)).write(handle);
      long start = System.nanoTime();
      HeddleException failure =
          assertThrows(
              HeddleException.class,
              () -> Ends.await("failure", () -> ends.left.connect(0, -1, handle) != null));
      assertTrue(System.nanoTime() - start >= 850_000_000L, "it was tried again");
      String message = String.valueOf(failure.getMessage());
      assertTrue(message.contains("unreachable"), message);
    }
  }

  @Test
  void listenerWithChangedPlanesIsReported() {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ConnectionHandle real = read(handle);
      byte[] before = PlaneDigest.of(List.of("plane:1", "plane:2"));
      new ConnectionHandle(real.token(), before, real.addresses()).write(handle);
      ends.connect(listener, handle).close();
      assertTrue(ends.line("when it wrote its handle").contains("now [plane:1]"));
      ends.connect().close();
      ends.line("when it wrote its handle");
    }
  }

  private static boolean logged(Ends ends, String word) {
    return ends.log.stream().anyMatch(line -> line.startsWith("WARN") && line.contains(word));
  }
}
