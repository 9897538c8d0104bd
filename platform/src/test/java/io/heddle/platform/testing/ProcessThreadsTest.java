package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests that a thread is found by its name while others start and end. */
@EndsWithin(60)
class ProcessThreadsTest {
  private static final int LOOKS = 300;

  @Test
  void threadIsFoundWhileOthersEnd() throws IOException, InterruptedException {
    CountDownLatch named = new CountDownLatch(1);
    CountDownLatch enough = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    Thread sought =
        Thread.ofPlatform()
            .name("sought-thread")
            .start(() -> {
              named.countDown();
              try {
                enough.await();
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
              }
            });
    Thread others =
        Thread.ofPlatform()
            .start(() -> {
              while (!over.get()) {
                Thread.ofPlatform().start(() -> {});
              }
            });
    try {
      named.await();
      for (int look = 0; look < LOOKS; look++) {
        String status = ProcessThreads.read("self", "sought-", "status").orElse("none");
        assertTrue(status.startsWith("Name:\tsought-thread\n"), status);
      }
      assertEquals(Optional.empty(), ProcessThreads.read("self", "nobody-", "status"));
    } finally {
      over.set(true);
      enough.countDown();
      others.join();
      sought.join();
    }
  }
}
