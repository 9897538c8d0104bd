package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody at a control port who speaks well but isn't the peer. */
class StrangersTest {
  private static final int PATIENCE_MS = 10_000;

  @TempDir Path folder;

  private Ends ends() {
    return new Ends(new LoopbackFabric(1), folder, List.of(1), List.of(1), Map.of());
  }

  private static Socket call(ConnectionHandle handle, ControlMessage message) throws IOException {
    Socket socket =
        new Socket(
            handle.addresses().getFirst().getAddress(), handle.addresses().getFirst().getPort());
    socket.setSoTimeout(PATIENCE_MS);
    ByteBuffer frame = ControlCodec.encode(message);
    socket.getOutputStream().write(frame.array(), 0, frame.limit());
    return socket;
  }

  private static ConnectionHandle read(long handle) {
    return Objects.requireNonNull(ConnectionHandle.read(handle));
  }

  @Test
  void whoDoesNotKnowTheTokenIsToldNothingAndTheListenerLivesOn() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      byte[] wrong = read(handle).token();
      wrong[15] ^= 1;
      try (Socket stranger =
          call(read(handle), new ControlMessage.Hello(ControlCodec.VERSION, 0, wrong))) {
        assertEquals(-1, stranger.getInputStream().read(), "the channel is closed without a word");
      }
      assertNull(ends.right.accept(listener));
      Ends.await("a line about the token", () -> logged(ends, "token"));
      try (Ends.Link link = ends.connect(listener, handle)) {
        ends.exchange(link, 1000, 1000, 1);
      }
    }
  }

  @Test
  void whoSpeaksAnotherVersionIsToldBoth() throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ControlMessage hello =
          new ControlMessage.Hello(ControlCodec.VERSION + 1, 0, read(handle).token());
      try (Socket stranger = call(read(handle), hello)) {
        DataInputStream in = new DataInputStream(stranger.getInputStream());
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

  private static boolean logged(Ends ends, String word) {
    return ends.log.stream().anyMatch(line -> line.startsWith("WARN") && line.contains(word));
  }
}
