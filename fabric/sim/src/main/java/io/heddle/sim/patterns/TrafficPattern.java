package io.heddle.sim.patterns;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/** Pattern of the traffic of one round of a collective. */
public enum TrafficPattern {
  /**
   * Each GPU sends to the next one of its group. A step begins when the previous step's data has
   * arrived.
   */
  RING(0),
  /** Each GPU sends an equal part to every other GPU of its group. */
  ALL_TO_ALL(8),
  /**
   * Each GPU sends to one other GPU and receives from one other GPU, which are chosen at random.
   */
  PERMUTATION(0),
  /**
   * The GPUs of a group are successive stages. Each sends to the next one, and the last sends
   * nothing.
   */
  PIPELINE(8),
  /** All GPUs of a group send to its first GPU. */
  INCAST(128);

  private final int usualGroup;

  TrafficPattern(int usualGroup) {
    this.usualGroup = usualGroup;
  }

  /** Returns the default number of GPUs of a group, at most {@code gpus}. */
  public int usualGroup(int gpus) {
    return usualGroup == 0 ? gpus : Math.min(usualGroup, gpus);
  }

  /** Returns the number of connections that {@link #traffic} makes. */
  public long connections(int gpus, int group) {
    long groups = gpus / group;
    return switch (this) {
      case RING, PERMUTATION -> gpus;
      case ALL_TO_ALL -> groups * group * (group - 1);
      case PIPELINE, INCAST -> groups * (group - 1);
    };
  }

  /**
   * Returns the connections and their messages.
   *
   * @param gpus number of GPUs, a multiple of the group
   * @param group number of GPUs that communicate with each other, 2 or more
   * @param roundBytes bytes that each sender sends in a round
   * @param rounds number of rounds; a connection sends one message in each
   */
  public Traffic traffic(int gpus, int group, long roundBytes, int rounds, long seed) {
    int connections = Math.toIntExact(connections(gpus, group));
    int[] source = new int[connections];
    int[] destination = new int[connections];
    int[] predecessor = new int[connections];
    Arrays.fill(predecessor, Traffic.NONE);
    int made = 0;
    int[] next = this == PERMUTATION ? permutation(gpus, seed) : new int[0];
    for (int gpu = 0; gpu < gpus; gpu++) {
      int first = gpu / group * group;
      int place = gpu - first;
      switch (this) {
        case RING -> {
          predecessor[made] = first + (place + group - 1) % group;
          source[made] = gpu;
          destination[made++] = first + (place + 1) % group;
        }
        case PERMUTATION -> {
          source[made] = gpu;
          destination[made++] = next[gpu];
        }
        case ALL_TO_ALL -> {
          for (int step = 1; step < group; step++) {
            source[made] = gpu;
            destination[made++] = first + (place + step) % group;
          }
        }
        case PIPELINE -> {
          if (place + 1 < group) {
            predecessor[made] = place == 0 ? Traffic.NONE : made - 1;
            source[made] = gpu;
            destination[made++] = gpu + 1;
          }
        }
        case INCAST -> {
          if (place > 0) {
            source[made] = gpu;
            destination[made++] = first;
          }
        }
      }
    }
    long bytes = this == ALL_TO_ALL ? Math.max(1, roundBytes / (group - 1)) : roundBytes;
    return new Traffic(source, destination, predecessor, this == RING ? 1 : 0, rounds, bytes);
  }

  /*
   * Returns a random permutation that is one cycle (Sattolo's shuffle), so that no GPU sends to
   * itself.
   */
  private static int[] permutation(int gpus, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] order = new int[gpus];
    Arrays.setAll(order, each -> each);
    for (int i = gpus - 1; i > 0; i--) {
      int other = random.nextInt(i);
      int kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
    return order;
  }

  /** Returns the name of the pattern in options. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
