package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loop of a bandwidth test in which a spray policy chooses a plane for each chunk of a message, as
 * in the plugin with NCCL's messages. A message is complete when all its chunks are complete. The
 * peer is passive, so it may be stock perftest. The loop uses only the calling thread, and {@link
 * #run} allocates nothing.
 */
final class SprayRun {
  private static final int POLL_BATCH = 16;
  private static final int INDEX_SHIFT = 40;
  /* The plugin's limit of bytes in flight. */
  private static final long WINDOW_BYTES = 16L << 20;
  private static final int LEAST_MESSAGES = 2;

  private final TestQueues queues;
  private final RunGuard guard;
  private final DeviceContext context;
  private final SprayPolicy policy;
  private final PlaneWeights weights;
  private final PlaneLoads loads;
  private final WorkCompletion[] batch = WorkCompletion.batch(POLL_BATCH);
  private final SendWorkRequest request = new SendWorkRequest();
  private final RunFailure failure = new RunFailure();
  private final SampleWindow window;
  private final Distribution completionTimes = new Distribution();
  private final boolean byTime;
  private final int lanes;
  private final int perLane;
  private final int sizeBytes;
  private final long target;

  /*
   * State of the messages in flight. The index is the message's number modulo the arrays' length.
   */
  private final int[] chunksLeft;
  private final long[] startedNs;
  private final int messageMask;
  private final long underWayLimitBytes;
  /* Chunks in flight on each queue pair, in order of posting. */
  private final int queueDepth;
  private final long[][] chunkMessages;
  private final int[][] chunkBytes;
  private final long[] posted;
  private final long[] completed;
  private final int[] turns;

  private final long[] laneBytes;
  private final long[] laneChunks;
  private long started;
  private long oldest;
  private long finished;
  private long counted;
  private int chunk;
  private int chunks;
  private long startNs;
  private long nowNs;

  SprayRun(
      TestQueues queues,
      Settings settings,
      SprayPolicy policy,
      PlaneWeights weights,
      PathMtu mtu,
      long sizeBytes,
      RunGuard guard) {
    this.queues = queues;
    this.guard = guard;
    this.policy = policy;
    this.weights = weights;
    this.sizeBytes = Math.toIntExact(sizeBytes);
    context = queues.context();
    Settings.Traffic traffic = settings.traffic();
    window = new SampleWindow(traffic);
    byTime = traffic.isTimed();
    lanes = queues.lanes().size();
    perLane = queues.count() / lanes;
    target = traffic.iterations() * queues.count();
    queueDepth = traffic.sendDepth();
    loads =
        new PlaneLoads(lanes, context.preferredWriteBytes(mtu), WINDOW_BYTES, perLane * queueDepth);
    int messages = Integer.highestOneBit(2 * queues.count() * queueDepth - 1);
    chunksLeft = new int[messages];
    startedNs = new long[messages];
    messageMask = messages - 1;
    /*
     * The limit keeps queues from filling up. With every queue full, a plane's share would be its
     * drain rate, whatever its weight.
     */
    underWayLimitBytes =
        Math.min(WINDOW_BYTES, (long) perLane * queueDepth * loads.preferredChunkBytes()) / 2;
    chunkMessages = new long[queues.count()][queueDepth];
    chunkBytes = new int[queues.count()][queueDepth];
    posted = new long[queues.count()];
    completed = new long[queues.count()];
    turns = new int[lanes];
    laneBytes = new long[lanes];
    laneChunks = new long[lanes];
    request.operation = settings.kind().operation();
    request.signalled = true;
    request.lkey = queues.lkey();
  }

  /**
   * Returns the requested weights.
   *
   * @throws HeddleException that names the malformed part and the syntax
   */
  static PlaneWeights weights(@Nullable String text, List<Lane> lanes) {
    try {
      return PlaneWeights.parse(text, lanes.stream().map(Lane::key).toList());
    } catch (HeddleException malformed) {
      String sentence = String.valueOf(malformed.getMessage());
      throw new HeddleException(sentence.replace("HEDDLE_WEIGHTS=", "--weights "), malformed);
    }
  }

  /**
   * Sends until the test is over.
   *
   * @throws HeddleException if a queue pair fails or the peer disconnects
   */
  void run() {
    startNs = System.nanoTime();
    nowNs = startNs;
    window.start(startNs);
    loop();
    String progress = byTime ? finished + " messages" : finished + " of " + target + " messages";
    failure.throwIfAny(queues, guard, progress);
  }

  private void loop() {
    while (true) {
      boolean closing = byTime && window.isOver(nowNs);
      if (chunk == chunks && (closing || !byTime && started == target) && finished == started) {
        return;
      }
      int work = postChunks(closing);
      work += context.progress();
      work += poll();
      if (byTime) {
        nowNs = System.nanoTime();
      }
      if (failure.hasOccurred() || !guard.mayContinue(work)) {
        return;
      }
    }
  }

  /*
   * Starts messages and posts their chunks while the policy finds room. Returns the number of
   * posted chunks.
   */
  private int postChunks(boolean closing) {
    int laid = 0;
    loads.setTime(System.nanoTime());
    while (!failure.hasOccurred()) {
      if (chunk == chunks) {
        boolean more = byTime ? !closing : started < target;
        if (!more || started - oldest > messageMask || !hasRoomForMessage()) {
          return laid;
        }
        int row = (int) started & messageMask;
        chunks = policy.chunks(sizeBytes, loads, weights);
        chunk = 0;
        chunksLeft[row] = chunks;
        startedNs[row] = System.nanoTime();
        started++;
      }
      if (!postChunk(started - 1)) {
        return laid;
      }
      laid++;
    }
    return laid;
  }

  private boolean hasRoomForMessage() {
    long underWay = started - finished;
    return underWay < LEAST_MESSAGES || (underWay + 1) * sizeBytes <= underWayLimitBytes;
  }

  private boolean postChunk(long message) {
    long from = policy.chunkStart(sizeBytes, chunk, chunks, loads, weights);
    int length = (int) (policy.chunkStart(sizeBytes, chunk + 1, chunks, loads, weights) - from);
    int lane = policy.choose(message, chunk, chunks, length, loads, weights);
    int index = lane == SprayPolicy.NO_PLANE ? -1 : queuePairWithRoom(lane);
    if (index < 0) {
      return false;
    }
    int row = (int) (posted[index] % queueDepth);
    chunkMessages[index][row] = message;
    chunkBytes[index][row] = length;
    request.id = (long) index << INDEX_SHIFT;
    request.localAddress = queues.sendPiece(index) + from;
    request.remoteAddress = queues.remote(index).address() + from;
    request.rkey = queues.remote(index).rkey();
    request.lengthBytes = length;
    request.inline = queues.isInline(length);
    int taken = queues.queuePair(index).postSend(request);
    if (taken != 1) {
      failure.post(taken, index, false);
      return false;
    }
    posted[index]++;
    chunk++;
    loads.started(lane, length, weights);
    return true;
  }

  /*
   * Returns the index of a queue pair on this {@link Lane} whose send queue has room; negative if
   * there is none. Queue pair i is on lane i modulo the number of lanes. A lane's queue pairs are
   * tried in turn.
   */
  private int queuePairWithRoom(int lane) {
    for (int tried = 0; tried < perLane; tried++) {
      int index = lane + turns[lane] * lanes;
      turns[lane] = turns[lane] + 1 == perLane ? 0 : turns[lane] + 1;
      if (posted[index] - completed[index] < queueDepth) {
        return index;
      }
    }
    return -1;
  }

  private int poll() {
    int taken = queues.sendQueue().poll(batch);
    if (taken <= 0) {
      if (taken < 0) {
        failure.poll(taken);
      }
      loads.onPolled();
      return 0;
    }
    nowNs = System.nanoTime();
    loads.setTime(nowNs);
    boolean counts = !byTime || window.isSampling(nowNs);
    for (int i = 0; i < taken; i++) {
      int index = (int) (batch[i].workRequestId >>> INDEX_SHIFT);
      if (batch[i].status != WorkCompletion.Status.SUCCESS) {
        failure.completion(batch[i].status, index, false);
        continue;
      }
      int row = (int) (completed[index]++ % queueDepth);
      chunkDone(index, chunkMessages[index][row], chunkBytes[index][row], counts);
    }
    loads.onPolled();
    return taken;
  }

  private void chunkDone(int index, long message, int length, boolean counts) {
    int lane = queues.laneOf(index);
    loads.finished(lane, length);
    if (counts) {
      laneBytes[lane] += length;
      laneChunks[lane]++;
    }
    int row = (int) message & messageMask;
    if (--chunksLeft[row] == 0) {
      finished++;
      counted += counts ? 1 : 0;
      completionTimes.record(nowNs - startedNs[row]);
      while (oldest < started && chunksLeft[(int) oldest & messageMask] == 0) {
        oldest++;
      }
    }
  }

  /** Returns the measurement, without the peak. Called after {@link #run}. */
  BandwidthResult result() {
    long measuredNs = byTime ? window.measuredNs() : nowNs - startNs;
    return new BandwidthResult(
        sizeBytes, counted, measuredNs / 1e9, 0, laneBytes, laneChunks, completionTimes);
  }
}
