package io.heddle.sim.chunks;

import io.heddle.sim.links.SplitMix;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Sending ends of all connections. Each connection has its own instances of the shipped classes
 * SprayPolicy and PlaneLoads, which are called as the plugin's sender calls them.
 */
final class Senders {
  private static final int NOT_BEGUN = -1;

  /* Weight of a plane that is in use, in eighths; a plane that is down has weight 0. */
  private static final int WHOLE = 8;

  private final Traffic traffic;
  private final ChunkTable chunks;
  private final ChunkPaths paths;
  private final int planes;
  private final int outstanding;
  private final long windowBytes;
  private final IntFunction<PlaneWeights> announced;
  private final boolean observes;
  private final SprayPolicy[] policies;
  private final PlaneLoads[] loads;
  private final PlaneWeights[] weights;
  /* For each connection, a bit for each plane that is down. */
  private final long[] downPlanes;
  private final int[] epochs;
  private final long[] inFlightBytes;
  /* For each connection, the message whose chunks are posted next. */
  private final int[] posting;
  /*
   * For each connection, the next chunk of its message in {@code posting}; NOT_BEGUN before the
   * message begins.
   */
  private final int[] nextChunk;
  /* For each connection, the first message that isn't acknowledged completely. */
  private final int[] oldest;
  /* For each connection, the first message that isn't delivered completely. */
  private final int[] delivered;
  /*
   * The next five arrays have one element for each message in flight, at the index that place()
   * returns.
   */
  private final int[] chunksOf;
  private final PlaneWeights[] cutBy;
  private final int[] unacknowledged;
  private final int[] undelivered;
  private final long[] begunNs;
  private final int[] firstToRetransmit;
  private final int[] lastToRetransmit;
  private int completedConnections;

  Senders(ChunkSetting setting, ChunkTable chunks, ChunkPaths paths) {
    this.traffic = setting.traffic();
    this.chunks = chunks;
    this.paths = paths;
    planes = setting.fabric().planes();
    outstanding = setting.outstanding();
    windowBytes = setting.windowBytes();
    announced = setting.weights();
    int connections = traffic.connections();
    policies = new SprayPolicy[connections];
    loads = new PlaneLoads[connections];
    weights = new PlaneWeights[connections];
    downPlanes = new long[connections];
    epochs = new int[connections * planes];
    inFlightBytes = new long[connections];
    posting = new int[connections];
    nextChunk = new int[connections];
    oldest = new int[connections];
    delivered = new int[connections];
    unacknowledged = new int[Math.multiplyExact(connections, outstanding)];
    cutBy = new PlaneWeights[unacknowledged.length];
    chunksOf = new int[unacknowledged.length];
    undelivered = new int[unacknowledged.length];
    begunNs = new long[unacknowledged.length];
    firstToRetransmit = new int[connections];
    lastToRetransmit = new int[connections];
    Arrays.fill(firstToRetransmit, ChunkTable.NONE);
    Arrays.fill(nextChunk, NOT_BEGUN);
    for (int each = 0; each < connections; each++) {
      policies[each] = SprayPolicy.named(setting.policy(), SplitMix.of(setting.seed(), each));
      loads[each] =
          new PlaneLoads(
              planes, setting.chunkBytes(), setting.windowBytes(), setting.queueChunks());
      weights[each] = announced.apply(each);
    }
    observes = policies[0].needsTimes();
  }

  int connections() {
    return policies.length;
  }

  /** Returns the number of connections whose messages are all acknowledged. */
  int completedConnections() {
    return completedConnections;
  }

  /** Posts chunks, first those to retransmit, as long as the limits allow. */
  void post(int connection, long nowNs) {
    PlaneLoads load = loads[connection];
    if (observes) {
      load.setTime(nowNs);
    }
    while (firstToRetransmit[connection] != ChunkTable.NONE) {
      int slot = firstToRetransmit[connection];
      int plane =
          choose(connection, chunks.message[slot], chunks.index[slot], chunks.lengthBytes[slot]);
      if (plane < 0) {
        return;
      }
      firstToRetransmit[connection] = chunks.link[slot];
      assign(connection, slot, plane, nowNs);
    }
    while (isPosting(connection) || beginMessage(connection, nowNs)) {
      int message = posting[connection];
      int chunk = nextChunk[connection];
      int length = lengthBytes(connection, message, chunk);
      if (inFlightBytes[connection] > 0 && inFlightBytes[connection] + length > windowBytes) {
        return;
      }
      int plane = choose(connection, message, chunk, length);
      if (plane < 0) {
        return;
      }
      int slot = chunks.take();
      chunks.connection[slot] = connection;
      chunks.message[slot] = message;
      chunks.index[slot] = chunk;
      chunks.lengthBytes[slot] = length;
      if (++nextChunk[connection] == chunksOf[place(connection, message)]) {
        posting[connection]++;
        nextChunk[connection] = NOT_BEGUN;
      }
      inFlightBytes[connection] += length;
      assign(connection, slot, plane, nowNs);
    }
  }

  /* Returns whether a message has begun and has chunks that aren't posted. */
  private boolean isPosting(int connection) {
    return nextChunk[connection] != NOT_BEGUN;
  }

  private int lengthBytes(int connection, int message, int chunk) {
    SprayPolicy policy = policies[connection];
    int at = place(connection, message);
    PlaneWeights by = cutBy[at];
    long bytes = traffic.messageBytes();
    int count = chunksOf[at];
    long start = policy.chunkStart(bytes, chunk, count, loads[connection], by);
    return (int) (policy.chunkStart(bytes, chunk + 1, count, loads[connection], by) - start);
  }

  /*
   * Returns the plane that the policy selects for a chunk of a message; negative if the policy
   * selects none now.
   */
  private int choose(int connection, int message, int chunk, int lengthBytes) {
    SprayPolicy policy = policies[connection];
    PlaneLoads load = loads[connection];
    PlaneWeights newest = weights[connection];
    int at = place(connection, message);
    PlaneWeights by = policy.isCutByWeight() ? cutBy[at] : newest;
    int plane = policy.choose(message, chunk, chunksOf[at], lengthBytes, load, by);
    return plane >= 0 && newest.isOutOfUse(plane)
        ? SprayPolicy.substitute(lengthBytes, load, newest)
        : plane;
  }

  private void assign(int connection, int slot, int plane, long nowNs) {
    loads[connection].started(plane, chunks.lengthBytes[slot], weights[connection]);
    chunks.plane[slot] = (byte) plane;
    chunks.epoch[slot] = epochs[connection * planes + plane];
    paths.start(slot, nowNs);
  }

  private boolean beginMessage(int connection, long nowNs) {
    int message = posting[connection];
    if (message == traffic.messages() || message - oldest[connection] >= outstanding) {
      return false;
    }
    int before = traffic.predecessor()[connection];
    if (before != Traffic.NONE && delivered[before] <= message - traffic.lag()) {
      return false;
    }
    int count =
        policies[connection].chunks(traffic.messageBytes(), loads[connection], weights[connection]);
    int at = place(connection, message);
    cutBy[at] = weights[connection];
    chunksOf[at] = count;
    unacknowledged[at] = count;
    undelivered[at] = count;
    begunNs[at] = nowNs;
    nextChunk[connection] = 0;
    return true;
  }

  private int place(int connection, int message) {
    return connection * outstanding + message % outstanding;
  }

  /**
   * Handles the arrival of a chunk. Returns whether it completes the first undelivered message of
   * the connection.
   */
  boolean arrived(int slot) {
    int connection = chunks.connection[slot];
    int message = chunks.message[slot];
    undelivered[place(connection, message)]--;
    int before = delivered[connection];
    while (delivered[connection] < posting[connection]
        && undelivered[place(connection, delivered[connection])] == 0) {
      delivered[connection]++;
    }
    return delivered[connection] > before;
  }

  /**
   * Handles a chunk's acknowledgement.
   *
   * @return duration of the chunk's message in ns if the message is now complete; otherwise −1
   */
  long acknowledged(int slot, long nowNs) {
    int connection = chunks.connection[slot];
    int length = chunks.lengthBytes[slot];
    int plane = chunks.plane[slot];
    PlaneLoads load = loads[connection];
    if (observes) {
      load.setTime(nowNs);
    }
    if (chunks.epoch[slot] == epochs[connection * planes + plane]) {
      load.finished(plane, length);
    }
    if (observes) {
      load.onPolled();
    }
    inFlightBytes[connection] -= length;
    int at = place(connection, chunks.message[slot]);
    chunks.release(slot);
    if (--unacknowledged[at] > 0) {
      return -1;
    }
    while (oldest[connection] < posting[connection]
        && unacknowledged[place(connection, oldest[connection])] == 0) {
      oldest[connection]++;
    }
    if (oldest[connection] == traffic.messages()) {
      completedConnections++;
    }
    return nowNs - begunNs[at];
  }

  /**
   * Handles a chunk's timeout. The chunk waits for retransmission, and its plane counts as down.
   *
   * @return whether the plane was up before
   */
  boolean timedOut(int slot, long nowNs) {
    int connection = chunks.connection[slot];
    int plane = chunks.plane[slot];
    if (firstToRetransmit[connection] == ChunkTable.NONE) {
      firstToRetransmit[connection] = slot;
    } else {
      chunks.link[lastToRetransmit[connection]] = slot;
    }
    lastToRetransmit[connection] = slot;
    chunks.link[slot] = ChunkTable.NONE;
    if (chunks.epoch[slot] != epochs[connection * planes + plane]) {
      return false;
    }
    epochs[connection * planes + plane]++;
    if (observes) {
      loads[connection].setTime(nowNs);
    }
    loads[connection].lost(plane);
    setDownPlanes(connection, downPlanes[connection] | 1L << plane);
    return true;
  }

  /** Marks a plane that was down as usable again. */
  void restored(int connection, int plane) {
    setDownPlanes(connection, downPlanes[connection] & ~(1L << plane));
  }

  private void setDownPlanes(int connection, long nextDown) {
    int[] eighths = new int[planes];
    for (int plane = 0; plane < planes; plane++) {
      eighths[plane] = (nextDown >>> plane & 1) != 0 ? 0 : WHOLE;
    }
    downPlanes[connection] = nextDown;
    PlaneWeights before = weights[connection];
    weights[connection] = announced.apply(connection).scaledBy(eighths);
    loads[connection].onWeightsChanged(before, weights[connection]);
  }
}
