package io.heddle.sim.links;

/**
 * Fabric of equal, separate planes. In each plane every GPU has one port at one leaf, and every
 * leaf has one link to every spine. A plane with one leaf has no spine. A fabric of more than two
 * tiers is modelled as two tiers whose spines have enough ports.
 *
 * @param gpus number of GPUs, each with one network card
 * @param planes number of planes, and of ports of a card
 * @param gpusPerLeaf number of GPUs that have a port at the same leaf
 * @param spines number of spines of a plane; 0 if a plane has only one leaf
 * @param portBitsPerSecond rate of every port of a card
 * @param uplinkBitsPerSecond rate of every link between leaf and spine
 * @param hopNs latency in ns from the end of a link to the beginning of the next, for
 *     acknowledgements too
 */
public record ClosFabric(
    int gpus,
    int planes,
    int gpusPerLeaf,
    int spines,
    double portBitsPerSecond,
    double uplinkBitsPerSecond,
    long hopNs) {
  /**
   * Largest number of links of a path: to the leaf, to the spine, to the other leaf, to the card.
   */
  public static final int MOST_HOPS = 4;

  private static final double BITS_PER_BYTE_AND_NS = 8e9;

  public ClosFabric {
    if (spines == 0 && gpusPerLeaf < gpus) {
      throw new IllegalArgumentException("several leaves without a spine");
    }
  }

  /** Returns the number of leaves of a plane. */
  public int leaves() {
    return (gpus + gpusPerLeaf - 1) / gpusPerLeaf;
  }

  private int linksPerPlane() {
    return 2 * gpus + 2 * leaves() * spines;
  }

  /** Returns the number of links of all planes. Both directions of a cable are separate links. */
  public int links() {
    return Math.multiplyExact(planes, linksPerPlane());
  }

  /** Returns the link from a GPU's card to its leaf. */
  public int up(int plane, int gpu) {
    return plane * linksPerPlane() + gpu;
  }

  /** Returns the link from a GPU's leaf to its card. */
  public int down(int plane, int gpu) {
    return plane * linksPerPlane() + gpus + gpu;
  }

  /** Returns the link from a leaf to a spine. */
  public int toSpine(int plane, int leaf, int spine) {
    return plane * linksPerPlane() + 2 * gpus + leaf * spines + spine;
  }

  /** Returns the link from a spine to a leaf. */
  public int fromSpine(int plane, int leaf, int spine) {
    return plane * linksPerPlane() + 2 * gpus + (leaves() + leaf) * spines + spine;
  }

  /** Returns the number of a GPU's leaf, which is the same in every plane. */
  public int leafOf(int gpu) {
    return gpu / gpusPerLeaf;
  }

  /** Returns the number of links between two GPUs: 2 or 4. */
  public int hops(int source, int destination) {
    return leafOf(source) == leafOf(destination) ? 2 : MOST_HOPS;
  }

  /**
   * Returns one link of the path between two GPUs.
   *
   * @param hop 0 for the first link
   */
  public int link(int plane, int source, int destination, int spine, int hop) {
    if (hop == 0) {
      return up(plane, source);
    }
    if (hop == hops(source, destination) - 1) {
      return down(plane, destination);
    }
    return hop == 1
        ? toSpine(plane, leafOf(source), spine)
        : fromSpine(plane, leafOf(destination), spine);
  }

  /** Returns whether a link leads to or from a card, and so has the ports' rate. */
  boolean isPort(int link) {
    return link % linksPerPlane() < 2 * gpus;
  }

  /** Returns the plane of a link. */
  public int planeOf(int link) {
    return link / linksPerPlane();
  }

  /** Returns the rate of a port, bytes per nanosecond. */
  public double portBytesPerNs() {
    return portBitsPerSecond / BITS_PER_BYTE_AND_NS;
  }

  /** Returns the rate of a link between leaf and spine, bytes per nanosecond. */
  public double uplinkBytesPerNs() {
    return uplinkBitsPerSecond / BITS_PER_BYTE_AND_NS;
  }
}
