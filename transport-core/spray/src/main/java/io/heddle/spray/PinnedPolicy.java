package io.heddle.spray;

/**
 * Policy that cuts a message into one contiguous segment per plane. The segments' lengths are in
 * proportion to the weights. A message of at most one preferred chunk stays whole and goes to the
 * plane with the lowest virtual time ({@link PlaneLoads}). A message longer than {@link
 * SprayPolicy#MOST_CHUNK_BYTES} is cut into equal chunks, and each chunk goes to the plane that
 * then has the lowest virtual time.
 */
final class PinnedPolicy implements SprayPolicy {
  @Override
  public String name() {
    return "pinned";
  }

  @Override
  public boolean isCutByWeight() {
    return true;
  }

  @Override
  public int chunks(long lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    if (lengthBytes <= loads.preferredChunkBytes()) {
      return 1;
    }
    return lengthBytes > MOST_CHUNK_BYTES
        ? UniformChunks.count(lengthBytes, loads.preferredChunkBytes())
        : usablePlanes(weights);
  }

  private static int usablePlanes(PlaneWeights weights) {
    int carrying = 0;
    for (int plane = 0; plane < weights.planes(); plane++) {
      carrying += weights.weight(plane) > 0 ? 1 : 0;
    }
    return Math.min(carrying, MAX_CHUNKS);
  }

  @Override
  public long chunkStart(
      long lengthBytes, int chunk, int chunks, PlaneLoads loads, PlaneWeights weights) {
    if (chunk == 0) {
      return 0;
    }
    if (chunk == chunks) {
      return lengthBytes;
    }
    if (lengthBytes > MOST_CHUNK_BYTES) {
      return UniformChunks.start(lengthBytes, chunk, loads.preferredChunkBytes());
    }
    long before = 0;
    int end = plane(chunk, weights);
    for (int plane = 0; plane < end; plane++) {
      before += weights.weight(plane);
    }
    /* No overflow: 2^29 bytes × 64 planes × 10^6 is below 2^63. */
    long exact = lengthBytes * before / weights.total();
    return exact / BOUNDARY_BYTES * BOUNDARY_BYTES;
  }

  @Override
  public int choose(
      long message,
      int chunk,
      int chunks,
      int lengthBytes,
      PlaneLoads loads,
      PlaneWeights weights) {
    if (chunks == 1 || chunks > usablePlanes(weights)) {
      return loads.lowestVirtualFinish(lengthBytes, weights);
    }
    int plane = plane(chunk, weights);
    return loads.hasQueueRoom(plane) ? plane : NO_PLANE;
  }

  /* Returns the plane at index chunk among those with a positive weight. */
  private static int plane(int chunk, PlaneWeights weights) {
    int seen = -1;
    for (int plane = 0; plane < weights.planes(); plane++) {
      if (weights.weight(plane) > 0 && ++seen == chunk) {
        return plane;
      }
    }
    throw new IllegalStateException("chunk " + chunk + " of fewer planes");
  }
}
