package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Initiating end of transfers: of messages, or of puts and gets. Cuts each transfer into chunks and
 * sprays the chunks over the planes, both by the {@link SprayPolicy}.
 *
 * <p>Transfers whose chunks don't fit the queues wait in order in the backlog, and progress posts
 * them; so do chunks that a fenced plane has lost. A transfer is done once every chunk is
 * acknowledged.
 *
 * <p>A transfer in flight has a place in one of the tables, which have {@link #PLACES} places each.
 * Places are numbered across the tables: the second table begins with number {@code PLACES}. The id
 * of a work request contains the place's index in its table.
 */
public abstract class SprayingCommunicator extends Communicator {
  /** Number of places in a table; a power of two. */
  protected static final int PLACES = ConnectionMemory.REQUEST_LINES;

  /**
   * Limit on the bytes in flight over all planes of a connection; far above the bandwidth-delay
   * product of any fabric.
   */
  private static final long WINDOW_BYTES = 16L << 20;

  /** Number of empty polls for each reading of the clock. */
  private static final int POLLS_PER_CLOCK_READ = 8;

  private static final int FIRST_PLACES = 16;
  private static final int TABLE_SHIFT = Integer.numberOfTrailingZeros(PLACES);

  private final int planes;
  private final int queuePairsPerPlane;
  private final boolean splitsTransfers;
  private final int requestsPerChunk;
  private final SprayPolicy policy;
  private final boolean needsTimes;
  private final PlaneLoads loads;

  /* Weights that the loads are based on; the connection's weights may be newer. */
  private PlaneWeights weights;

  /* State of each transfer in flight; all but the tables are indexed by place. */
  private final SentChunks[] tables;
  private long[] number = {};
  private long[] lengthBytes = {};
  private PlaneWeights[] cutBy = {};

  /* Places of the transfers that have chunks to be posted, oldest first. */
  private final Backlog backlog;
  private final FlowsToPost filled;
  private long replays;
  private int idlePolls;
  private long countedPollNs;

  /**
   * @param splitsTransfers whether a transfer's chunks go over all queue pairs of a plane
   * @param tableCount number of tables of transfers
   * @param requestsPerChunk maximum number of work requests for a chunk
   */
  protected SprayingCommunicator(
      ConnectionParts parts,
      Runnable sendClosing,
      SprayPolicy policy,
      boolean splitsTransfers,
      int tableCount,
      int requestsPerChunk,
      PlaneCounters[] counters,
      String direction,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, counters, direction, log, onClose);
    this.policy = policy;
    this.splitsTransfers = splitsTransfers;
    this.requestsPerChunk = requestsPerChunk;
    queuePairsPerPlane = parts.pairs().perCarrier();
    planes = carriers();
    needsTimes = planes > 1 && policy.needsTimes();
    weights = parts.weights();
    loads =
        new PlaneLoads(
            planes, parts.preferredChunkBytes(), WINDOW_BYTES, parts.maxChunksPerPlane());
    backlog = new Backlog(tableCount * PLACES);
    filled = new FlowsToPost(flows, failure);
    tables = new SentChunks[tableCount];
    tables[0] = new SentChunks(planes, parts.memory().tableAddress());
    for (int i = 1; i < tableCount; i++) {
      tables[i] =
          new SentChunks(
              planes, Memory.allocate(parts.arena(), SentChunks.carrierBytes(PLACES), 64));
    }
  }

  /** Makes room for transfers in this many places, no fewer than before. */
  protected void makeRoom(int places) {
    number = Arrays.copyOf(number, places);
    lengthBytes = Arrays.copyOf(lengthBytes, places);
    cutBy = Arrays.copyOf(cutBy, places);
    for (SentChunks each : tables) {
      each.makeRoom(Math.min(places, PLACES));
    }
  }

  /** Grows the tables and arrays if they don't contain this place yet. */
  protected final void makeRoomFor(int place) {
    if (place >= number.length) {
      makeRoom(Math.max(FIRST_PLACES, Integer.highestOneBit(place) << 1));
    }
  }

  private SentChunks tableOf(int place) {
    return tables[place >> TABLE_SHIFT];
  }

  /* Returns the index of a place in its table. */
  private static int row(int place) {
    return place & PLACES - 1;
  }

  /** Returns the chunks of the first table's transfers. */
  final SentChunks chunks() {
    return tables[0];
  }

  /**
   * Returns the number of chunks of a transfer that is cut by these weights, of which at least one
   * isn't zero.
   */
  protected final int chunkCount(long length, PlaneWeights by) {
    return policy.chunks(length, loads, by);
  }

  /**
   * Begins a transfer in a free place, which the tables already contain. All chunks of the transfer
   * are to be posted.
   *
   * @param numbered number of the transfer in its table
   * @param by weights by which {@link #chunkCount} computed the number of chunks
   * @param group number of the group at the peer to which the immediate's slot belongs
   * @param immediate immediate of the transfer's first chunk
   */
  protected final void begin(
      int place,
      long numbered,
      long length,
      PlaneWeights by,
      int chunkCount,
      long group,
      int immediate) {
    number[place] = numbered;
    lengthBytes[place] = length;
    cutBy[place] = by;
    tableOf(place).begin(row(place), group, immediate, chunkCount);
    counters[0].message();
    backlog.add(place);
  }

  /** Returns the immediate of one chunk. */
  protected final int immediate(int place, int chunk) {
    return tableOf(place).immediate(row(place), chunk);
  }

  /** Returns the newest weights. Costs one volatile read where nothing has changed. */
  protected final PlaneWeights newestWeights() {
    PlaneWeights newest = parts.weights();
    if (newest != weights) {
      loads.onWeightsChanged(weights, newest);
      weights = newest;
    }
    return newest;
  }

  /** Records that the sub-flow got a request; {@link #post} posts it. */
  protected final void addToPost(SubFlow flow) {
    filled.add(flow);
  }

  /** Posts chunks of the backlog, oldest first, while planes have room. */
  protected final void post() {
    long nowNs = clock.nanoTime();
    if (needsTimes) {
      loads.setTime(nowNs);
    }
    while (!backlog.isEmpty() && postChunks(backlog.first())) {
      backlog.removeFirst();
    }
    filled.post(nowNs);
  }

  /* Returns whether all chunks of this transfer are posted. */
  private boolean postChunks(int place) {
    SentChunks chunks = tableOf(place);
    int row = row(place);
    PlaneWeights newest = newestWeights();
    PlaneWeights by = policy.isCutByWeight() ? cutBy[place] : newest;
    int count = chunks.count(row);
    while (chunks.toPost(row) != 0) {
      int chunk = Long.numberOfTrailingZeros(chunks.toPost(row));
      long start = policy.chunkStart(lengthBytes[place], chunk, count, loads, by);
      long end = policy.chunkStart(lengthBytes[place], chunk + 1, count, loads, by);
      int length = (int) (end - start);
      int plane = policy.choose(number[place], chunk, count, length, loads, by);
      if (plane >= 0 && newest.isOutOfUse(plane)) {
        plane = SprayPolicy.substitute(length, loads, newest);
      }
      if (plane < 0) {
        return false;
      }
      SubFlow flow = flows[flowOn(plane, number[place], chunk)];
      if (!flow.hasRoomFor(requestsPerChunk)) {
        return false;
      }
      filled.add(flow);
      addChunk(flow, place, chunk, start, length);
      chunks.posted(row, chunk, flow.index);
      loads.started(plane, length, newest);
      counters[plane].chunk(sentBytes(place, length));
    }
    return true;
  }

  private int flowOn(int plane, long numbered, int chunk) {
    return queuePairsPerPlane == 1
        ? plane
        : plane + planes * (int) ((splitsTransfers ? chunk : numbered) % queuePairsPerPlane);
  }

  /**
   * Adds a chunk's work requests to a sub-flow that has room for them.
   *
   * @param start offset of the chunk in the transfer
   */
  protected abstract void addChunk(SubFlow flow, int place, int chunk, long start, int length);

  /** Returns how many of a chunk's bytes this end sends. */
  protected abstract int sentBytes(int place, int length);

  /** Handles the end of a transfer, all of whose chunks are acknowledged. */
  protected abstract void done(int place);

  /**
   * Handles a chunk's acknowledgement.
   *
   * @param table number of the transfer's table
   * @param id id of the chunk's work request
   */
  protected final void acknowledged(int table, long id, SubFlow flow) {
    int row = SubFlow.lineOf(id);
    int place = table * PLACES + row;
    int length = SubFlow.lengthOf(id);
    counters[flow.plane].acknowledged(sentBytes(place, length), tookNs(flow));
    if (needsTimes) {
      loads.setTime(polledAtNs());
    }
    loads.finished(flow.plane, length);
    if (tables[table].acknowledged(row, SubFlow.chunkOf(id))) {
      done(place);
    }
  }

  @Override
  protected final void postPending(ConnectionHealth.Peer peer) {
    if (peer == ConnectionHealth.Peer.ALIVE) {
      if (isAnyWaiting()) {
        postWaiting();
      }
      return;
    }
    /*
     * A peer that closed in good order lingers to acknowledge what it received, and its Closing may
     * overtake the acknowledgements. Such a peer accepts nothing new, so a transfer that isn't
     * fully posted will never complete.
     */
    boolean unfinishable =
        peer == ConnectionHealth.Peer.CLOSED ? isAnyWaiting() && !isAnyFullyPosted() : hasPending();
    if (unfinishable) {
      failure.onPeerGone();
    }
  }

  /** Returns whether a transfer isn't fully posted. */
  protected boolean isAnyWaiting() {
    return !backlog.isEmpty();
  }

  /** Posts waiting transfers while there is room. */
  protected void postWaiting() {
    post();
  }

  /* Returns whether some transfer is fully posted and not acknowledged yet. */
  private boolean isAnyFullyPosted() {
    for (int place = 0; place < number.length; place++) {
      SentChunks chunks = tableOf(place);
      if (chunks.toPost(row(place)) == 0 && !chunks.isDone(row(place))) {
        return true;
      }
    }
    return false;
  }

  @Override
  protected final boolean isFailureRelevant() {
    return true;
  }

  @Override
  protected final void completionsTaken() {
    if (!needsTimes) {
      return;
    }
    if (polledAtNs() != countedPollNs) {
      countedPollNs = polledAtNs();
      loads.setTime(countedPollNs);
      loads.onPolled();
    } else if (++idlePolls % POLLS_PER_CLOCK_READ == 0 && loads.isAnyInFlight()) {
      /*
       * While chunks are in flight, polls that find no completion are reported to the loads, too.
       */
      loads.setTime(clock.nanoTime());
      loads.onPolled();
    }
  }

  @Override
  public final boolean isSender() {
    return true;
  }

  @Override
  public final Fenced fenced(String plane, int epoch) {
    return new Fenced(plane, epoch, 0, 0, List.of());
  }

  /** Calls {@link SentChunks#describeContradiction} of the first table. */
  protected final @Nullable String describeContradiction(
      Fenced theirs, int plane, long next, long begun) {
    return tables[0].describeContradiction(theirs, plane, next, begun);
  }

  /**
   * Moves chunks in flight off a plane that is fenced at both ends, and posts the lost ones again.
   *
   * @param arrivals for each table, the peer's arrivals
   */
  protected final void moveOff(int plane, Fenced... arrivals) {
    loads.lost(plane);
    for (int place = 0; place < number.length; place++) {
      SentChunks chunks = tableOf(place);
      int row = row(place);
      if (chunks.isOutstandingOn(row, plane)) {
        countMoved(place, plane, chunks.settle(row, arrivals[place >> TABLE_SHIFT], plane));
        if (chunks.isDone(row)) {
          done(place);
        }
      }
    }
    /*
     * The backlog is rebuilt in the order of transfers: it contains those with chunks to be
     * repeated, and those that were waiting before.
     */
    backlog.clear();
    for (int first = 0; first < number.length; first += PLACES) {
      IntStream.range(first, Math.min(first + PLACES, number.length))
          .filter(place -> tableOf(place).toPost(row(place)) != 0)
          .boxed()
          .sorted(Comparator.comparingLong(place -> number[place]))
          .forEach(backlog::add);
    }
    if (parts.health().isPeerAlive()) {
      post();
    }
  }

  private void countMoved(int place, int plane, long missing) {
    replays += Long.bitCount(missing);
    for (long left = missing; left != 0; left &= left - 1) {
      int length = chunkBytes(place, Long.numberOfTrailingZeros(left));
      counters[plane].countMoved(sentBytes(place, length));
    }
  }

  /** Returns the length of one chunk. */
  protected final int chunkBytes(int place, int chunk) {
    int count = tableOf(place).count(row(place));
    long start = policy.chunkStart(lengthBytes[place], chunk, count, loads, cutBy[place]);
    long end = policy.chunkStart(lengthBytes[place], chunk + 1, count, loads, cutBy[place]);
    return (int) (end - start);
  }

  @Override
  public final long replays() {
    return replays;
  }
}
