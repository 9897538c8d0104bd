package io.heddle.bgp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of unexpected errors on the speaker's thread. */
@EndsWithin(60)
class EventLoopTest {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();
  private final EventLoop loop = new EventLoop((level, sentence) -> lines.add(sentence));

  @AfterEach
  void close() {
    loop.close();
  }

  static Stream<Throwable> unrecoverableErrors() {
    return Stream.of(
        new OutOfMemoryError("on purpose"),
        new StackOverflowError("on purpose"),
        new AssertionError("on purpose"),
        new NoClassDefFoundError("on purpose"),
        new IllegalStateException("on purpose"));
  }

  static Stream<Throwable> recoverableErrors() {
    return Stream.of(new HeddleException("refused"), new InternalError("a fault in a mapped file"));
  }

  private void raise(Throwable thrown) {
    switch (thrown) {
      case Error error -> throw error;
      case RuntimeException failure -> throw failure;
      default -> throw new IllegalArgumentException(thrown);
    }
  }

  private void assertLoopContinues() throws InterruptedException {
    loop.execute(() -> heard.add("alive"));
    assertEquals("alive", heard.take());
  }

  @ParameterizedTest
  @MethodSource("unrecoverableErrors")
  void unrecoverableErrorEndsTheProcess(Throwable thrown) throws InterruptedException {
    loop.onPersistentFailure(heard::add);
    loop.execute(() -> raise(thrown));
    assertEquals(thrown, heard.take(), "the end of the process");
    loop.execute(() -> loop.schedule(1_000_000, () -> raise(thrown)));
    assertEquals(thrown, heard.take(), "after a timer too");
    assertTrue(
        lines.getFirst().startsWith("heddle-bgp: continues after: " + thrown), lines::toString);
    assertLoopContinues();
  }

  @ParameterizedTest
  @MethodSource("recoverableErrors")
  void loopContinuesAfterARefusal(Throwable thrown) throws InterruptedException {
    loop.onPersistentFailure(heard::add);
    loop.execute(() -> raise(thrown));
    assertLoopContinues();
    assertTrue(
        lines.getFirst().startsWith("heddle-bgp: continues after: " + thrown), lines::toString);
  }

  @Test
  void callerGetsTheErrorOfItsTask() {
    try (var speaker =
        new io.heddle.bgp.session.BgpSpeaker((level, sentence) -> lines.add(sentence))) {
      HeddleException failed =
          org.junit.jupiter.api.Assertions.assertThrows(
              HeddleException.class,
              () ->
                  speaker.callOnLoop(() -> {
                    throw new OutOfMemoryError("on purpose");
                  }));
      assertInstanceOf(OutOfMemoryError.class, failed.getCause().getCause());
    }
  }
}
