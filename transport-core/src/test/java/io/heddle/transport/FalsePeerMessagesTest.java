package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.transport.connection.Connection;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Drain;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.control.ControlMessage.PlaneDown;
import io.heddle.transport.control.ControlMessage.PlaneMessage;
import io.heddle.transport.control.ControlMessage.PlaneReady;
import io.heddle.transport.control.ControlMessage.PlaneUp;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests of a peer with impossible messages about planes: the connection ends with a line about
 * them.
 */
class FalsePeerMessagesTest {
  private static final int LENGTH = 1 << 20;

  @TempDir Path folder;

  static Stream<Arguments> toReceiver() {
    return Stream.of(
        falseMessage(
            new PlaneDown("plane:9", 0, "x"), "plane:9, which this connection doesn't have"),
        falseMessage(new PlaneDown("plane:1", 7, "x"), "in state UP and epoch 0"),
        falseMessage(new Fenced("plane:9", 0, 0, 0, List.of()), "plane:9, which this connection"),
        falseMessage(new Fenced("plane:1", 3, 0, 0, List.of()), "in state UP and epoch 0"),
        falseMessage(new Fenced("plane:1", 0, 4, 9, List.of()), "a sender has no open groups"),
        falseMessage(new PlaneUp("plane:2", 1, List.of(), List.of()), "in state UP and epoch 0"),
        falseMessage(new PlaneReady("plane:2", 0), "in state UP and epoch 0"),
        falseMessage(new Drain("plane:5", true), "Drain names plane plane:5"));
  }

  static Stream<Arguments> toSender() {
    return Stream.of(
        falseMessage(new PlaneDown("plane:1", -1, "x"), "in state UP and epoch 0"),
        falseMessage(new Fenced("plane:1", 0, 0, 4_000, List.of()), "plane:1 is contradictory"),
        falseMessage(fenced(new Arrival(200, 0, 0, 4, 1)), "plane:1 is contradictory"),
        falseMessage(fenced(new Arrival(0, 77, 0, 4, 1)), "an arrival with numbers out of range"),
        falseMessage(
            fenced(new Arrival(0, 0, 7, 4, 1), new Arrival(0, 0, 7, 4, 1)),
            "receive 7 of slot 0 is named twice"),
        falseMessage(fenced(new Arrival(0, 0, 0, 63, 1)), "plane:1 is contradictory"),
        falseMessage(fenced(new Arrival(0, 0, 0, 4, -1L)), "plane:1 is contradictory"),
        falseMessage(new PlaneUp("plane:2", 0, List.of(), List.of()), "in state UP and epoch 0"),
        falseMessage(new PlaneReady("plane:2", 0), "in state UP and epoch 0"));
  }

  private static Fenced fenced(Arrival... arrivals) {
    return new Fenced("plane:1", 0, 0, 1, List.of(arrivals));
  }

  private static Arguments falseMessage(PlaneMessage message, String reason) {
    return Arguments.of(message, reason);
  }

  @ParameterizedTest
  @MethodSource("toReceiver")
  void falsePlaneMessageToTheReceiverEndsTheConnection(PlaneMessage falseMessage, String reason) {
    inject(falseMessage, reason, true);
  }

  @ParameterizedTest
  @MethodSource("toSender")
  void falsePlaneMessageToTheSenderEndsTheConnection(PlaneMessage falseMessage, String reason) {
    inject(falseMessage, reason, false);
  }

  /*
   * Sends the false message to an end that has something in flight, and asserts that the connection
   * ends for this reason.
   */
  private void inject(PlaneMessage falseMessage, String reason, boolean toReceiver) {
    LoopbackFabric fabric = new LoopbackFabric(1);
    try (Ends ends = new Ends(fabric, folder, List.of(1, 2), List.of(1, 2), Map.of())) {
      Ends.Link link = ends.connect();
      long memory = ends.memory(LENGTH);
      long request =
          ends.receive(link, memory, LENGTH, 1, link.receiver().registerMemory(memory, LENGTH, 1));
      if (!toReceiver) {
        fabric.holdAcknowledgements(true);
        long handle = link.sender().registerMemory(memory, LENGTH, 1);
        request = Ends.send(link, memory, LENGTH, 1, handle);
      }
      Connection liar = toReceiver ? link.sending() : link.receiving();
      Communicator victim = toReceiver ? link.receiver() : link.sender();
      (toReceiver ? ends.left : ends.right)
          .loop()
          .execute(() -> Ends.session(liar).send(falseMessage));
      Ends.await("end", () -> victim.progress() == TransportResult.REMOTE_ERROR);
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(request));
      assertTrue(
          ends.log.stream().anyMatch(line -> line.startsWith("WARN") && line.contains(reason)),
          ends.log.toString());
      link.close();
    }
  }
}
