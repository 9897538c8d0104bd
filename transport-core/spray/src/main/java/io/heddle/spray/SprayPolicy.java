package io.heddle.spray;

import java.util.List;

/**
 * How a message is cut into chunks, and which plane carries the next one.
 *
 * <p>Called by the thread that drives the connection; no allocation, no blocking.
 */
public interface SprayPolicy {
  /** What chooses planes; the first is the one that is taken unless another is asked for. */
  List<String> NAMES = List.of("spray", "pinned", "least-in-flight", "spraylink", "hash");

  /** The most chunks that a message may have: the immediate has six bits for a chunk's number. */
  int MAX_CHUNKS = 64;

  /**
   * Chunks are at most as long as this and a preferred one, where a message isn't longer than
   * {@link #MAX_CHUNKS} of them. A length has 31 bits, and devices take 1 GiB at a time.
   */
  int MOST_CHUNK_BYTES = 1 << 29;

  /** Boundaries between chunks are multiples of this, which NCCL's LL128 protocol needs. */
  int BOUNDARY_BYTES = 128;

  /** Answer of {@link #choose}: nothing may be sent now. */
  int NO_PLANE = -1;

  /**
   * The policy whose queue pairs go over all planes: the device chooses the plane of each train,
   * and nothing is left to choose here.
   */
  String PACKET = "packet";

  /** The name users give in HEDDLE_POLICY. */
  String name();

  /**
   * Whether a message's chunks are cut by the weights. Such a message keeps the weights that it was
   * cut by; else its next chunk goes by the newest.
   */
  default boolean cutsByWeight() {
    return false;
  }

  /**
   * Whether it wants to know how long chunks take: {@link PlaneLoads#at} and {@link
   * PlaneLoads#looked} are called then.
   */
  default boolean observes() {
    return false;
  }

  /**
   * How many chunks a message of this length has, 1 to {@link #MAX_CHUNKS}; an empty message has
   * one. Unless cut by the weights, all are of one size but the last.
   */
  default int chunks(long lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.count(lengthBytes, loads.preferredChunkBytes());
  }

  /** Offset of a chunk's first byte; for {@code chunk == chunks} the message's length. */
  default long chunkStart(
      long lengthBytes, int chunk, int chunks, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.start(lengthBytes, chunk, loads.preferredChunkBytes());
  }

  /**
   * The plane for a chunk, or {@link #NO_PLANE} while those that might carry it are full.
   *
   * @param message number of the message in its connection
   */
  int choose(
      long message, int chunk, int chunks, int lengthBytes, PlaneLoads loads, PlaneWeights weights);

  /**
   * A plane for a chunk whose own one is out of use, by weight; or {@link #NO_PLANE}. For every
   * policy.
   */
  static int instead(int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    return loads.lowestVirtualFinish(lengthBytes, weights);
  }

  /**
   * The policy of this name, one of {@link #NAMES} or {@link #PACKET}.
   *
   * @param connectionSeed what stands for the connection's ports in a hash
   * @throws IllegalArgumentException for another name
   */
  static SprayPolicy named(String name, long connectionSeed) {
    return switch (name) {
      case "spray", PACKET -> new WeightedSprayPolicy();
      case "pinned" -> new PinnedPolicy();
      case "least-in-flight" -> new LeastInFlightPolicy();
      case "spraylink" -> new SprayLinkPolicy(connectionSeed);
      case "hash" -> new HashPolicy(connectionSeed);
      default -> throw new IllegalArgumentException("no spray policy is called " + name);
    };
  }
}
