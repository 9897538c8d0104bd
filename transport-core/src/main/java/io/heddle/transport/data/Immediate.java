package io.heddle.transport.data;

/**
 * Immediate data of a chunk, 32 bits.
 *
 * <pre>
 * | slot 8 | generation 4 | receive 3 | chunk 6 | chunks − 1 6 | flags 5 |
 * </pre>
 *
 * <p>The data doesn't name the communicator, since the queue pair is the communicator's own. One
 * flag is defined: {@link #PROBE}.
 */
public final class Immediate {
  /** Immediate of a probe: an empty write that tests whether the plane carries traffic. */
  public static final int PROBE = 1;

  private Immediate() {}

  public static int encode(int slot, int generation, int receive, int chunk, int chunks) {
    return slot << 24 | generation << 20 | receive << 17 | chunk << 11 | (chunks - 1) << 5;
  }

  public static int slot(int immediate) {
    return immediate >>> 24;
  }

  public static int generation(int immediate) {
    return immediate >>> 20 & 0xf;
  }

  public static int receive(int immediate) {
    return immediate >>> 17 & 0x7;
  }

  public static int chunk(int immediate) {
    return immediate >>> 11 & 0x3f;
  }

  public static int chunks(int immediate) {
    return (immediate >>> 5 & 0x3f) + 1;
  }

  public static int flags(int immediate) {
    return immediate & 0x1f;
  }
}
