package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.PathMtu;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Warm-up: runs the test's own loops briefly between queue pairs of this device, before it contacts
 * the peer. Without it, the JVM would still interpret this code in the first part of the
 * measurement. The peer can't take part, because stock perftest has no warm-up. A failed warm-up,
 * for instance on a device that can't send to itself, doesn't fail the test.
 */
final class WarmUp {
  private static final long LIMIT_NS = 3_000_000_000L;
  private static final long LARGEST_BYTES = 65_536;
  private static final long BANDWIDTH_MESSAGES = 600;
  private static final long ROUND_TRIPS = 4_000;
  private static final PerftestDialogue.BufferRules RULES =
      new PerftestDialogue.BufferRules(4096, 64);

  private final TestDevice device;
  private final Settings settings;

  WarmUp(TestDevice device, Settings settings) {
    this.device = device;
    this.settings = settings;
  }

  /** Runs the warm-up, which takes some tens of milliseconds. */
  void run() {
    try {
      if (settings.kind().isLatency()) {
        playPingPong();
      } else {
        sendBothWays();
      }
    } catch (HeddleException cannot) {
      /* Without the warm-up, only the first messages are slower. */
      return;
    }
  }

  private Settings shortened(long messages, int queuePairs) {
    Settings.Traffic traffic = settings.traffic();
    return new Settings(
        settings.kind(),
        "this device",
        settings.tcpPort(),
        new Settings.Traffic(
            Math.min(traffic.sizeBytes(), LARGEST_BYTES),
            false,
            messages,
            0,
            0,
            queuePairs,
            Math.min(traffic.sendDepth(), 64),
            settings.kind().isSend() ? 256 : 1,
            Math.min(traffic.moderation(), 16),
            1,
            traffic.inlineBytes(),
            true,
            false),
        settings.link(),
        Settings.PlaneChoice.NONE,
        settings.output());
  }

  private TestQueues queues(Settings shortened, int count) {
    return new TestQueues(device.context(), shortened, List.of(device.lane()), count, RULES);
  }

  private void connect(TestQueues left, int leftIndex, TestQueues right, int rightIndex) {
    PathMtu mtu = device.requestedMtu();
    left.setRemote(leftIndex, right.own(rightIndex));
    right.setRemote(rightIndex, left.own(leftIndex));
    left.connect(leftIndex, mtu, right.endpointParameters(rightIndex));
    right.connect(rightIndex, mtu, left.endpointParameters(leftIndex));
  }

  private void sendBothWays() {
    Settings shortened = shortened(BANDWIDTH_MESSAGES, 2);
    try (TestQueues queues = queues(shortened, 2)) {
      connect(queues, 0, queues, 1);
      BandwidthRun run =
          new BandwidthRun(
              queues,
              shortened,
              shortened.traffic().sizeBytes(),
              RunGuard.within(LIMIT_NS, IdlePolicy.ofSender()));
      run.postFirstReceives();
      run.run();
    }
  }

  private void playPingPong() {
    Settings shortened = shortened(ROUND_TRIPS, 1);
    try (TestQueues left = queues(shortened, 1);
        TestQueues right = queues(shortened, 1);
        ExecutorService threads = Executors.newFixedThreadPool(1)) {
      connect(left, 0, right, 0);
      Future<?> other = threads.submit(() -> play(right, shortened, false));
      play(left, shortened, true);
      other.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException failed) {
      throw new HeddleException("the other end of the warm-up failed", failed);
    }
  }

  private static void play(TestQueues queues, Settings shortened, boolean begins) {
    long size = shortened.traffic().sizeBytes();
    RunGuard guard = RunGuard.within(LIMIT_NS, IdlePolicy.ofSender());
    if (shortened.kind().isSend()) {
      SendLatencyRun run = new SendLatencyRun(queues, 0, shortened, begins, size, guard);
      run.postFirstReceives();
      run.run();
    } else {
      new WriteLatencyRun(queues, 0, shortened, begins, size, guard).run();
    }
  }
}
