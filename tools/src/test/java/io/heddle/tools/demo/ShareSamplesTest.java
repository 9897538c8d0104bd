package io.heddle.tools.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Test of {@link ShareSamples}, of the detection of when a change takes effect, and of {@link
 * ShareWatch}.
 */
@EndsWithin(30)
final class ShareSamplesTest {
  private static final double STEP = 0.02;

  /*
   * Returns samples of two planes, 1000 bytes per sample. The shares are equal until second 102,
   * and 3 to 1 from then on.
   */
  private static ShareSamples halvesThenQuarters() {
    ShareSamples samples = new ShareSamples();
    long first = 0;
    long second = 0;
    for (int step = 0; step <= 200; step++) {
      samples.add(100 + step * STEP, List.of(first, second));
      first += step < 100 ? 500 : 750;
      second += step < 100 ? 500 : 250;
    }
    return samples;
  }

  @Test
  void sharesAreOfTheInterval() {
    ShareSamples samples = halvesThenQuarters();
    assertEquals(List.of(0.5, 0.5), samples.shares(100, 101));
    assertEquals(List.of(0.75, 0.25), samples.shares(102.5, 103.5));
    assertEquals(List.of(0.625, 0.375), samples.shares(101, 103.001));
  }

  @Test
  void shareIsNullIfNothingWasSent() {
    ShareSamples samples = new ShareSamples();
    samples.add(1, List.of(10L, 10L));
    samples.add(2, List.of(10L, 10L));
    assertNull(samples.shares(1, 2));
    assertNull(samples.shares(0.5, 2), "there is no sample before");
    assertNull(samples.shares(1, 1.5), "both ends have the same sample");
  }

  @Test
  void deviationIsOfTheFurthestPlane() {
    assertEquals(
        20, ShareSamples.deviationPoints(List.of(0.5, 0.3, 0.2), List.of(0.4, 0.5, 0.1)), 1e-9);
  }

  @Test
  void changeIsFollowedAtTheFirstWindowWithTheNewShares() {
    Double followed =
        FabricDemo.followedAfterMs(halvesThenQuarters(), 101.5, 100, List.of(0.75, 0.25));
    assertEquals(480, followed, 41, "at 102, less the tolerance of 3 points");
  }

  @Test
  void sharesBeforeTheWeightsDoNotCount() {
    Double followed =
        FabricDemo.followedAfterMs(halvesThenQuarters(), 102.5, 700, List.of(0.75, 0.25));
    assertEquals(700, followed, 21);
  }

  @Test
  void sharesThatNeverMatchAreNotFollowed() {
    ShareSamples samples = halvesThenQuarters();
    assertNull(FabricDemo.followedAfterMs(samples, 101, 0, List.of(0.9, 0.1)));
    assertNull(
        FabricDemo.followedAfterMs(samples, 103.9, 0, List.of(0.75, 0.25)),
        "the rest is too short");
  }

  @Test
  void secondOfTheChangeIsNotSteady() {
    List<FabricDemoReport.Window> windows = new ArrayList<>();
    double[] deviations = {1, 2, 40, 3};
    for (int i = 0; i < deviations.length; i++) {
      windows.add(new FabricDemoReport.Window(i - 2, List.of(), List.of(), deviations[i]));
    }
    assertEquals(
        3, new FabricDemoReport.Change(1, 80, 20, 1, null, windows).steadyDeviationPoints());
  }

  @Test
  void changesAreTriggeredOnceInOrderAfterTheFirstBytes() throws Exception {
    AtomicLong bytes = new AtomicLong();
    CountDownLatch looks = new CountDownLatch(3);
    List<String> made = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch both = new CountDownLatch(2);
    ShareWatch watch =
        new ShareWatch(
            () -> {
              looks.countDown();
              return List.of(bytes.get(), bytes.get() / 2);
            },
            List.of(change(0, made, "cut", both), change(0.1, made, "restored", both)),
            1);
    try (watch) {
      looks.await();
      assertEquals(List.of(), made, "nothing was sent yet");
      bytes.set(1_000);
      both.await();
    }
    assertEquals(List.of("cut", "restored"), made);
    assertTrue(watch.changedAt(1) - watch.samples().first() >= 0.1);
    assertTrue(watch.changedAt(1) > watch.changedAt(0));
  }

  @Test
  void samplingIsCompleteAfterItsDurationOrWithoutFirstBytes() throws Exception {
    AtomicLong bytes = new AtomicLong();
    CountDownLatch looks = new CountDownLatch(3);
    /* 60 samples take at least 60 ms, since a millisecond or more passes between two samples. */
    CountDownLatch looksAtBytes = new CountDownLatch(60);
    ShareWatch watch =
        new ShareWatch(
            () -> {
              looks.countDown();
              if (bytes.get() > 0) {
                looksAtBytes.countDown();
              }
              return List.of(bytes.get());
            },
            List.of(),
            1);
    try (watch) {
      looks.await();
      assertFalse(watch.isComplete(0.05, 1e6));
      assertTrue(watch.isComplete(0.05, 0));
      bytes.set(1);
      looksAtBytes.await();
      assertTrue(watch.isComplete(0.05, 1e6));
      assertFalse(watch.isComplete(1e6, 0), "the first bytes have come");
    }
  }

  private static ShareWatch.Change change(
      double after, List<String> made, String what, CountDownLatch done) {
    return new ShareWatch.Change(
        after,
        () -> {
          made.add(what);
          done.countDown();
        });
  }

  @Test
  void runThatEndsBeforeTheChangeFails() throws Exception {
    ShareWatch watch = new ShareWatch(() -> List.of(0L, 0L), 0.0, () -> {});
    watch.close();
    HeddleException early = assertThrows(HeddleException.class, watch::changedAt);
    assertTrue(
        String.valueOf(early.getMessage())
            .startsWith("the run ended before the change after 0.0 s"),
        early.getMessage());
  }

  @Test
  void failureOfAChangeOrOfCountersIsRethrown() throws Exception {
    CountDownLatch tried = new CountDownLatch(1);
    ShareWatch changing =
        new ShareWatch(
            () -> List.of(1L),
            0,
            () -> {
              tried.countDown();
              throw new IllegalStateException("no such plane");
            });
    tried.await();
    HeddleException failed = assertThrows(HeddleException.class, changing::close);
    assertTrue(String.valueOf(failed.getMessage()).endsWith("no such plane"), failed.getMessage());

    CompletableFuture<Thread> watching = new CompletableFuture<>();
    ShareWatch counting =
        new ShareWatch(
            () -> {
              if (!watching.complete(Thread.currentThread())) {
                throw new IOException("the folder is gone");
              }
              return List.of(1L);
            },
            100,
            () -> {});
    watching.get().join();
    assertTrue(counting.isComplete(1e6, 1e6), "no more samples will come");
    failed = assertThrows(HeddleException.class, counting::close);
    assertTrue(String.valueOf(failed.getMessage()).endsWith("the folder is gone"));
  }
}
