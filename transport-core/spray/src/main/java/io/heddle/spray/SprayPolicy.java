package io.heddle.spray;

import java.util.List;

/**
 * Policy that cuts a message into chunks and chooses the plane of each.
 *
 * <p>Called by the thread that drives the connection; must not allocate or block.
 */
public interface SprayPolicy {
  /** Names of the policies; the first is the default. */
  List<String> NAMES = List.of("spray", "pinned", "least-in-flight", "spraylink", "hash");

  /**
   * Largest number of chunks of a message: a write's immediate data has six bits for a chunk's
   * number.
   */
  int MAX_CHUNKS = 64;

  /**
   * Largest chunk, unless the preferred length is larger or the message would need more than {@link
   * #MAX_CHUNKS} such chunks. A length has 31 bits, and devices take 1 GiB at a time.
   */
  int MOST_CHUNK_BYTES = 1 << 29;

  /** Alignment of the boundaries between chunks, which NCCL's LL128 protocol needs. */
  int BOUNDARY_BYTES = 128;

  /** Result of {@link #choose} when nothing may be sent now. */
  int NO_PLANE = -1;

  /**
   * Name of the policy under which each queue pair spans all planes. The device chooses the planes,
   * so this interface has nothing to choose.
   */
  String PACKET = "packet";

  /** Returns the policy's name in HEDDLE_POLICY. */
  String name();

  /**
   * Returns whether a message's chunks have sizes in proportion to the weights. Such a message
   * keeps the weights by which it was cut. Otherwise the newest weights apply to each chunk.
   */
  default boolean isCutByWeight() {
    return false;
  }

  /**
   * Returns whether the policy needs the times at which chunks begin and end. The caller then calls
   * {@link PlaneLoads#setTime} and {@link PlaneLoads#onPolled}.
   */
  default boolean needsTimes() {
    return false;
  }

  /**
   * Returns the number of chunks of a message of this length, 1 to {@link #MAX_CHUNKS}; 1 for an
   * empty message. Unless {@link #isCutByWeight}, all chunks except the last have the same size.
   */
  default int chunks(long lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.count(lengthBytes, loads.preferredChunkBytes());
  }

  /**
   * Returns the offset of a chunk's first byte; for {@code chunk == chunks} the message's length.
   */
  default long chunkStart(
      long lengthBytes, int chunk, int chunks, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.start(lengthBytes, chunk, loads.preferredChunkBytes());
  }

  /**
   * Returns the plane for a chunk, or {@link #NO_PLANE} while all candidates are full.
   *
   * @param message number of the message in its connection
   */
  int choose(
      long message, int chunk, int chunks, int lengthBytes, PlaneLoads loads, PlaneWeights weights);

  /**
   * Returns the plane with the lowest virtual time ({@link PlaneLoads}), for a chunk whose chosen
   * plane is out of use; {@link #NO_PLANE} while none has room. All policies use this substitute.
   */
  static int substitute(int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    return loads.lowestVirtualFinish(lengthBytes, weights);
  }

  /**
   * Returns the policy of this name, one of {@link #NAMES} or {@link #PACKET}.
   *
   * @param connectionSeed number that distinguishes this connection in hashes, as ports do in a
   *     switch's hash
   * @throws IllegalArgumentException for another name
   */
  static SprayPolicy named(String name, long connectionSeed) {
    return switch (name) {
      case "spray", PACKET -> new WeightedSprayPolicy();
      case "pinned" -> new PinnedPolicy();
      case "least-in-flight" -> new LeastInFlightPolicy();
      case "spraylink" -> new SprayLinkPolicy(connectionSeed);
      case "hash" -> new HashPolicy(connectionSeed);
      default -> throw new IllegalArgumentException("no spray policy is named " + name);
    };
  }
}
