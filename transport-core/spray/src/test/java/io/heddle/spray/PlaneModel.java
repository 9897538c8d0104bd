package io.heddle.spray;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Model of planes as queues that are emptied at their rates. The sender always has the same number
 * of messages in flight, whose slots are freed in order. Steps are a tenth of a millisecond;
 * randomness has a seed.
 */
final class PlaneModel {
  private static final int CHUNK = 61_440;
  private static final int PACKET = 4096;
  private static final long MESSAGE_BYTES = 1 << 20;
  private static final int OUTSTANDING = 8;
  private static final double STEP_SECONDS = 1e-4;
  private static final double NS = 1e9;
  private static final double CALM_SECONDS = 0.4;
  private static final double BURST_SECONDS = 0.1;
  private static final double LEFT_IN_A_BURST = 0.2;

  /**
   * Result of a run: goodput ÷ the planes' capacity, the messages' times in ms, sorted, and each
   * plane's share of the bytes.
   */
  record Outcome(double ofIdeal, List<Double> milliseconds, double[] shares) {
    double p99() {
      return milliseconds.get(milliseconds.size() * 99 / 100);
    }
  }

  private record Chunk(int message, int plane, int lengthBytes) {}

  private record Done(Chunk chunk, double at) {}

  /** Resource that planes share. */
  enum Sharing {
    /** No shared resource: each plane has its own rate. */
    NONE,
    /** All planes share one queue, as on one processor. */
    QUEUE,
    /** A port that serves busy planes in rotation, packet by packet. */
    PORT,
    /** The sender, which is the bottleneck: a posted chunk has arrived when the call returns. */
    SENDER
  }

  /**
   * @param weights announced weights
   * @param sharing shared resource of the planes
   * @param bytesPerSecond rate of each plane; one number for a shared resource
   * @param bursts whether each rate drops by four fifths now and then
   * @param lateSeconds longest pause of the sender between two polls; it pauses after one in ten
   *     polls, at random
   * @param pathSeconds time from a chunk's end on a plane until the sender knows of it
   */
  record Circumstances(
      PlaneWeights weights,
      Sharing sharing,
      double[] bytesPerSecond,
      boolean bursts,
      double lateSeconds,
      double pathSeconds) {}

  private static final class Message {
    private final double startedAt;
    private final int chunks;
    private int posted;
    private int left;

    Message(double startedAt, int chunks) {
      this.startedAt = startedAt;
      this.chunks = chunks;
      this.left = chunks;
    }
  }

  private final SprayPolicy policy;
  private final PlaneWeights weights;
  private final PlaneLoads loads;
  private final Sharing sharing;
  private final double[] bytesPerSecond;
  private final double lateSeconds;
  private final double pathSeconds;
  private final Random random;
  private final Random lateness;

  private final List<ArrayDeque<Chunk>> queues = new ArrayList<>();
  private final double[] leftOfFirst;
  private final double[] share;
  private final double[] changesAt;
  private final ArrayDeque<Done> unseen = new ArrayDeque<>();
  private final List<Message> messages = new ArrayList<>();
  private final List<Double> times = new ArrayList<>();
  private final double[] carried;
  private int oldest;
  private int posting;
  private double possible;
  private double now;
  private double sentAt;
  private int next;
  private double unused;

  PlaneModel(SprayPolicy policy, Circumstances circumstances, long seed) {
    this.policy = policy;
    this.weights = circumstances.weights();
    this.sharing = circumstances.sharing();
    this.bytesPerSecond = circumstances.bytesPerSecond().clone();
    this.lateSeconds = circumstances.lateSeconds();
    this.pathSeconds = circumstances.pathSeconds();
    int servers = sharing == Sharing.PORT ? weights.planes() : bytesPerSecond.length;
    loads = new PlaneLoads(weights.planes(), CHUNK, 16 << 20, 256);
    random = new Random(seed);
    lateness = new Random(seed);
    leftOfFirst = new double[servers];
    share = new double[servers];
    Arrays.fill(share, 1);
    changesAt = new double[servers];
    carried = new double[weights.planes()];
    for (int plane = 0; plane < servers; plane++) {
      queues.add(new ArrayDeque<>());
      changesAt[plane] = circumstances.bursts() ? exponential(CALM_SECONDS) : Double.MAX_VALUE;
    }
  }

  private double exponential(double mean) {
    return -Math.log(1 - random.nextDouble()) * mean;
  }

  Outcome run(double seconds) {
    double comesBackAt = 0;
    for (now = STEP_SECONDS; now < seconds; now += STEP_SECONDS) {
      carry();
      if (now >= Math.max(comesBackAt, sentAt)) {
        comesBackAt = lateness.nextInt(10) == 0 ? now + lateSeconds * lateness.nextDouble() : now;
        loads.setTime((long) (now * NS));
        reportCompletions();
        loads.onPolled();
        post();
      }
    }
    Collections.sort(times);
    double total = Arrays.stream(carried).sum();
    return new Outcome(
        times.size() * (double) MESSAGE_BYTES / possible,
        List.copyOf(times),
        Arrays.stream(carried).map(each -> each / total).toArray());
  }

  private void carry() {
    if (sharing == Sharing.PORT || sharing == Sharing.SENDER) {
      possible += bytesPerSecond[0] * STEP_SECONDS;
      if (sharing == Sharing.PORT) {
        applyInOrder(bytesPerSecond[0] * STEP_SECONDS);
      }
      return;
    }
    for (int plane = 0; plane < share.length; plane++) {
      if (now >= changesAt[plane]) {
        share[plane] = share[plane] == 1 ? LEFT_IN_A_BURST : 1;
        changesAt[plane] = now + exponential(share[plane] == 1 ? CALM_SECONDS : BURST_SECONDS);
      }
      double bytes = bytesPerSecond[plane] * share[plane] * STEP_SECONDS;
      possible += bytes;
      carry(plane, bytes);
    }
  }

  private void carry(int server, double most) {
    double bytes = most;
    ArrayDeque<Chunk> queue = queues.get(server);
    while (bytes > 0 && !queue.isEmpty()) {
      double taken = Math.min(bytes, leftOfFirst[server]);
      bytes -= taken;
      leftOfFirst[server] -= taken;
      carried[queue.element().plane()] += taken;
      if (leftOfFirst[server] < 1) {
        unseen.add(new Done(queue.remove(), now + pathSeconds));
        leftOfFirst[server] = queue.isEmpty() ? 0 : queue.element().lengthBytes();
      }
    }
  }

  private void applyInOrder(double bytes) {
    unused += bytes;
    for (int idle = 0; unused >= PACKET; ) {
      next = (next + 1) % queues.size();
      idle = queues.get(next).isEmpty() ? idle + 1 : 0;
      if (idle > queues.size()) {
        unused = 0;
      } else if (idle == 0) {
        carry(next, PACKET);
        unused -= PACKET;
      }
    }
  }

  private void reportCompletions() {
    while (!unseen.isEmpty() && unseen.element().at() <= now) {
      Done done = unseen.remove();
      loads.finished(done.chunk().plane(), done.chunk().lengthBytes());
      Message message = messages.get(done.chunk().message());
      if (--message.left == 0) {
        times.add((now - message.startedAt) * 1e3);
      }
    }
    while (oldest < messages.size() && messages.get(oldest).left == 0) {
      oldest++;
    }
  }

  private void post() {
    while (messages.size() - oldest < OUTSTANDING) {
      messages.add(new Message(now, policy.chunks(MESSAGE_BYTES, loads, weights)));
    }
    while (posting < messages.size()) {
      Message message = messages.get(posting);
      while (message.posted < message.chunks) {
        long start =
            policy.chunkStart(MESSAGE_BYTES, message.posted, message.chunks, loads, weights);
        long end =
            policy.chunkStart(MESSAGE_BYTES, message.posted + 1, message.chunks, loads, weights);
        int length = (int) (end - start);
        int plane = policy.choose(posting, message.posted, message.chunks, length, loads, weights);
        if (plane == SprayPolicy.NO_PLANE) {
          return;
        }
        loads.started(plane, length, weights);
        enqueue(new Chunk(posting, plane, length));
        message.posted++;
      }
      posting++;
      if (sharing == Sharing.SENDER) {
        loads.setTime((long) (sentAt * NS));
      }
    }
  }

  private void enqueue(Chunk chunk) {
    if (sharing == Sharing.SENDER) {
      sentAt = Math.max(sentAt, now) + chunk.lengthBytes() / bytesPerSecond[0];
      carried[chunk.plane()] += chunk.lengthBytes();
      unseen.add(new Done(chunk, sentAt));
      return;
    }
    int server = chunk.plane() % queues.size();
    if (queues.get(server).isEmpty()) {
      leftOfFirst[server] = chunk.lengthBytes();
    }
    queues.get(server).add(chunk);
  }
}
