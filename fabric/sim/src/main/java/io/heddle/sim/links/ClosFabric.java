package io.heddle.sim.links;

/**
 * A fabric of equal, separate planes. In each plane every GPU has one port at one leaf, and every
 * leaf one link to every spine of its plane. With one leaf there is no spine. More than two tiers
 * count as two whose spines have enough ports.
 *
 * @param gpus with a network card each
 * @param planes ports of a card
 * @param gpusPerLeaf ports of a leaf towards cards
 * @param spines of a plane; 0 for planes of one leaf
 * @param portBitsPerSecond of every port of a card
 * @param uplinkBitsPerSecond of every link between leaf and spine
 * @param hopNs from the end of a link to the beginning of the next, also for acknowledgements
 */
public record ClosFabric(
    int gpus,
    int planes,
    int gpusPerLeaf,
    int spines,
    double portBitsPerSecond,
    double uplinkBitsPerSecond,
    long hopNs) {
  /** Most links of a path: up, to the spine, from the spine, down. */
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

  /** Returns the number of links of all planes; each direction counts. */
  public int links() {
    return Math.multiplyExact(planes, linksPerPlane());
  }

  /** Returns the link from the card to its leaf. */
  public int up(int plane, int gpu) {
    return plane * linksPerPlane() + gpu;
  }

  /** Returns the link from the leaf to the card. */
  public int down(int plane, int gpu) {
    return plane * linksPerPlane() + gpus + gpu;
  }

  /** Returns the link from the leaf to the spine. */
  public int toSpine(int plane, int leaf, int spine) {
    return plane * linksPerPlane() + 2 * gpus + leaf * spines + spine;
  }

  /** Returns the link from the spine to the leaf. */
  public int fromSpine(int plane, int leaf, int spine) {
    return plane * linksPerPlane() + 2 * gpus + (leaves() + leaf) * spines + spine;
  }

  /** Returns the GPU's leaf, the same in every plane. */
  public int leafOf(int gpu) {
    return gpu / gpusPerLeaf;
  }

  /** Returns the number of links between two GPUs: 2 or 4. */
  public int hops(int source, int destination) {
    return leafOf(source) == leafOf(destination) ? 2 : MOST_HOPS;
  }

  /**
   * Returns a link of a path.
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

  /** Returns whether a link is a card's, which has the ports' rate. */
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
