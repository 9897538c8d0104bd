package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.LiveHeap;
import io.heddle.transport.control.ControlMessage.Hello;
import io.heddle.transport.control.ControlMessage.Ready;
import io.heddle.transport.control.ControlMessage.Refused;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlChannelTest {
  /* Limit for a busy machine; normally the result comes at once. */
  private static final int LIMIT_S = 60;

  /** Events of the accepting side, in order: messages, and reasons as text. */
  private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();

  private final BlockingQueue<ControlChannel> accepted = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> warnings = new LinkedBlockingQueue<>();
  private final ControlLoop loop =
      new ControlLoop(NanoClock.SYSTEM, (level, sentence) -> warnings.add(sentence));
  private final ControlListener listener =
      new ControlListener(loop, InetAddress.getLoopbackAddress(), () -> listening(heard, accepted));

  @AfterEach
  void closeAll() {
    listener.close();
    loop.close();
  }

  private static ControlChannel.Listener listening(
      BlockingQueue<Object> heard, BlockingQueue<ControlChannel> connected) {
    return new ControlChannel.Listener() {
      private @Nullable ControlChannel channel;

      @Override
      public void onConnected(ControlChannel open) {
        channel = open;
        connected.add(open);
      }

      @Override
      public void onMessage(ControlMessage message) {
        Objects.requireNonNull(channel).markAuthenticated();
        if (message instanceof Refused refused && refused.reason().equals("break this end")) {
          throw new IllegalStateException("as injected");
        }
        heard.add(message);
      }

      @Override
      public void onClosed(ControlChannel.Ending how, String reason) {
        heard.add(how + ": " + reason);
      }
    };
  }

  private Object next() throws InterruptedException {
    Object next = heard.poll(LIMIT_S, TimeUnit.SECONDS);
    assertNotNull(next, "nothing was heard within 5 s");
    return next;
  }

  private Socket rawClient() throws IOException {
    return new Socket(listener.address().getAddress(), listener.address().getPort());
  }

  private static byte[] frame(ControlMessage message) {
    ByteBuffer frame = ControlCodec.encode(message, ControlCodec.newFrame());
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
  }

  private void assertListenerLives() throws IOException, InterruptedException {
    try (Socket next = rawClient()) {
      next.getOutputStream().write(frame(new Ready()));
      assertInstanceOf(Ready.class, next());
    }
    assertTrue(next().toString().endsWith("the peer closed the connection"));
  }

  @Test
  void bothEndsHearEachOther() throws InterruptedException {
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    BlockingQueue<ControlChannel> connected = new LinkedBlockingQueue<>();
    loop.execute(
        () -> ControlChannel.connect(loop, listener.address(), listening(answers, connected)));
    ControlChannel mine = connected.poll(LIMIT_S, TimeUnit.SECONDS);
    ControlChannel theirs = accepted.poll(LIMIT_S, TimeUnit.SECONDS);
    assertNotNull(mine);
    assertNotNull(theirs);
    loop.execute(() -> mine.send(new Hello(1, 0, new byte[16], 0)));
    assertInstanceOf(Hello.class, next());
    loop.execute(() -> theirs.send(new Refused("not today")));
    loop.execute(theirs::closeWhenSent);
    assertEquals(new Refused("not today"), answers.poll(LIMIT_S, TimeUnit.SECONDS));
    assertTrue(
        String.valueOf(answers.poll(LIMIT_S, TimeUnit.SECONDS))
            .endsWith("the peer closed the connection"));
  }

  @Test
  void messagesArriveByteByByteOrSeveralAtOnce() throws IOException, InterruptedException {
    try (Socket slow = rawClient()) {
      slow.setTcpNoDelay(true);
      for (byte one : frame(new Refused("slowly"))) {
        slow.getOutputStream().write(one);
        Thread.sleep(1);
      }
      assertEquals(new Refused("slowly"), next());
      byte[] one = frame(new Refused("x"));
      byte[] three = ByteBuffer.allocate(3 * one.length).put(one).put(one).put(one).array();
      slow.getOutputStream().write(three);
      for (int i = 0; i < 3; i++) {
        assertEquals(new Refused("x"), next());
      }
    }
  }

  @Test
  void interleavedPartsOfMessagesStaySeparate() throws IOException, InterruptedException {
    List<Socket> sockets = new ArrayList<>();
    List<byte[]> frames = new ArrayList<>();
    Set<Object> expected = new HashSet<>();
    try {
      for (int i = 0; i < 20; i++) {
        sockets.add(rawClient());
        sockets.getLast().setTcpNoDelay(true);
        Refused message = new Refused("number " + i + " ".repeat(10 * i));
        frames.add(frame(message));
        expected.add(message);
      }
      int longest = frames.stream().mapToInt(frame -> frame.length).max().orElseThrow();
      for (int at = 0; at < longest; at += 7) {
        for (int i = 0; i < frames.size(); i++) {
          byte[] frame = frames.get(i);
          if (at < frame.length) {
            sockets.get(i).getOutputStream().write(frame, at, Math.min(7, frame.length - at));
          }
        }
      }
      Set<Object> came = new HashSet<>();
      while (came.size() < expected.size()) {
        came.add(next());
      }
      assertEquals(expected, came);
    } finally {
      for (Socket each : sockets) {
        each.close();
      }
    }
  }

  @Test
  void idleChannelHasNoBuffer() throws IOException, InterruptedException {
    int channels = 400;
    List<Socket> sockets = new ArrayList<>();
    try {
      sockets.add(rawClient());
      assertNotNull(accepted.poll(LIMIT_S, TimeUnit.SECONDS));
      long before = LiveHeap.bytes();
      for (int i = 0; i < channels; i++) {
        sockets.add(rawClient());
        sockets.getLast().getOutputStream().write(frame(new Ready()));
        assertInstanceOf(Ready.class, next());
      }
      long each = (LiveHeap.bytes() - before) / channels;
      assertTrue(each < 4096, each + " bytes of heap for both ends of a channel");
    } finally {
      for (Socket open : sockets) {
        open.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"00000000", "00008001", "ffffffff", "0000000163", "47455420"})
  void invalidFrameEndsOnlyItsConnection(String hex) throws IOException, InterruptedException {
    try (Socket hostile = rawClient()) {
      hostile.getOutputStream().write(HexFormat.of().parseHex(hex));
      String reason = assertInstanceOf(String.class, next());
      assertTrue(
          reason.contains("a frame of")
              || reason.contains("message type")
              || reason.contains("as a web client"),
          reason);
      assertEquals(-1, hostile.getInputStream().read(), "its connection is closed");
    }
    assertListenerLives();
  }

  @Test
  void immediateResetHarmsNoOtherConnection() throws IOException, InterruptedException {
    for (int i = 0; i < 20; i++) {
      Socket rude = rawClient();
      rude.getOutputStream().write("GET / HTTP".getBytes(StandardCharsets.US_ASCII));
      rude.setSoLinger(true, 0);
      rude.close();
    }
    for (int i = 0; i < 20; i++) {
      String reason = assertInstanceOf(String.class, next());
      /* The channel ends by the reset, or by the received bytes if they are read first. */
      assertTrue(reason.startsWith("PEER: ") || reason.startsWith("PROTOCOL_ERROR: "), reason);
    }
    assertListenerLives();
  }

  @Test
  void localFaultClosesOnlyItsConnectionAndIsReported() throws IOException, InterruptedException {
    try (Socket unlucky = rawClient()) {
      unlucky.getOutputStream().write(frame(new Refused("break this end")));
      assertTrue(next().toString().endsWith("this end failed to serve it"));
      assertEquals(-1, unlucky.getInputStream().read());
    }
    String warning = String.valueOf(warnings.poll(LIMIT_S, TimeUnit.SECONDS));
    assertTrue(
        warning.startsWith(
            "heddle-control: serving a control channel failed: java.lang.IllegalStateException: as"
                + " injected at io.heddle"),
        warning);
    assertListenerLives();
  }

  @Test
  void listenerSurvivesAnExceptionDuringAccept() throws IOException, InterruptedException {
    boolean[] once = {true};
    ControlListener fragile =
        new ControlListener(
            loop,
            InetAddress.getLoopbackAddress(),
            () -> {
              if (once[0]) {
                once[0] = false;
                throw new IllegalStateException("as injected");
              }
              return listening(heard, accepted);
            });
    try (Socket first = new Socket(fragile.address().getAddress(), fragile.address().getPort())) {
      assertNotNull(warnings.poll(LIMIT_S, TimeUnit.SECONDS));
      assertEquals(-1, first.getInputStream().read(), "no thread serves it: it is closed");
      try (Socket second =
          new Socket(fragile.address().getAddress(), fragile.address().getPort())) {
        second.getOutputStream().write(frame(new Ready()));
        assertInstanceOf(Ready.class, next());
      }
    } finally {
      fragile.close();
    }
  }

  @Test
  void closedPortIsReportedAsAReason() throws InterruptedException {
    listener.close();
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    loop.execute(() ->
        ControlChannel.connect(
            loop, listener.address(), listening(answers, new LinkedBlockingQueue<>())));
    String reason = String.valueOf(answers.poll(20, TimeUnit.SECONDS));
    assertTrue(
        reason.startsWith("REFUSED: " + AddressText.of(listener.address()))
            && reason.contains("can't connect"),
        reason);
  }

  @Test
  void listenerClosedBeforeItsAnswerCountsAsRefusal() throws Exception {
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    try (ServerSocket closing = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress there = (InetSocketAddress) closing.getLocalSocketAddress();
      /*
       * Both ends act in one pass of the loop, so that the reset arrives before the loop checks
       * the outcome.
       */
      loop.execute(() -> {
        ControlChannel.connect(loop, there, listening(answers, new LinkedBlockingQueue<>()));
        try (Socket caller = closing.accept()) {
          caller.setSoLinger(true, 0);
        } catch (IOException failure) {
          answers.add(failure);
        }
      });
      String reason = String.valueOf(answers.poll(20, TimeUnit.SECONDS));
      assertTrue(reason.startsWith("REFUSED: " + AddressText.of(there)), reason);
    }
  }

  @Test
  void unreachableNetworkIsNoRefusal() throws Exception {
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    /* The kernel opens no TCP connection to a broadcast address. */
    InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("127.255.255.255"), 7);
    loop.execute(() ->
        ControlChannel.connect(loop, nowhere, listening(answers, new LinkedBlockingQueue<>())));
    String reason = String.valueOf(answers.poll(LIMIT_S, TimeUnit.SECONDS));
    assertTrue(reason.startsWith("NETWORK: can't connect to " + AddressText.of(nowhere)), reason);
  }

  @Test
  void aTimerFiresInOrderOfItsTime() throws InterruptedException {
    loop.execute(() -> {
      loop.schedule(20_000_000, () -> heard.add("second"));
      loop.schedule(1_000_000, () -> heard.add("first"));
    });
    assertEquals("first", next());
    assertEquals("second", next());
  }

  @Test
  void throwingTaskIsReportedAndTheThreadContinues() throws InterruptedException {
    loop.execute(() -> {
      throw new IllegalStateException("as injected");
    });
    loop.execute(() -> heard.add("alive"));
    assertEquals("alive", next());
    assertNotNull(warnings.poll());
  }
}
