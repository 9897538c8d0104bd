package io.heddle.fabric.model;

import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Fit of a linear hash of the source port to the measured paths of some ports. The XOR and CRC
 * hashes of deployed switches are linear (RePaC, USENIX ATC 2021). The fit learns from a base port,
 * the 16 ports that differ from the base in one bit, and other ports. The fit is tested with 32
 * more ports, from which it didn't learn.
 *
 * @param map the fitted hash
 * @param paths number of paths
 * @param learned number of ports from which the fit learned
 * @param heldOut number of ports that tested the fit
 * @param correct number of these test ports whose path was predicted correctly
 */
public record LinearFit(PortMap map, int paths, int learned, int heldOut, int correct) {
  /** Minimum share of test ports that must be predicted correctly for a hash to count as linear. */
  public static final double LEAST_ACCURACY = 0.95;

  /** Number of ports that are held out to test the fit. */
  public static final int HELD_OUT = 32;

  /**
   * Number of ports that a plan needs: the base, the 16 ports that differ from the base in one bit,
   * some that differ in two or three bits, and the held-out ones.
   */
  public static final int PLANNED = 1 + 16 + 15 + HELD_OUT;

  static final int PORT_BITS = 16;

  /* Lowest port that isn't privileged. */
  private static final int FIRST_FREE = 1024;

  private static final int MOST_PATHS = 64;

  /** Returns the share of held-out ports whose path was predicted correctly. */
  public double accuracy() {
    return (double) correct / heldOut;
  }

  /** Returns whether the hash counts as linear. */
  public boolean isLinear() {
    return accuracy() >= LEAST_ACCURACY;
  }

  /**
   * Returns ports to measure for a fit: the base, the 16 ports that differ from it in one bit, some
   * that differ in two or three, and random ones. All ports are distinct and none is below 1024.
   * {@link #PLANNED} ports suffice for groups of up to four links.
   *
   * @param base base port, at least 49152, so that flipping one bit gives no privileged port
   */
  public static List<Integer> plan(int base, int count, Random random) {
    List<Integer> ports = new ArrayList<>(List.of(base));
    for (int bit = 0; bit < PORT_BITS; bit++) {
      ports.add(base ^ 1 << bit);
    }
    SortedSet<Integer> known = new TreeSet<>(ports);
    while (ports.size() < PLANNED - HELD_OUT) {
      int port = base;
      while (Integer.bitCount(port ^ base) < 2 + ports.size() % 2) {
        port ^= 1 << random.nextInt(PORT_BITS);
      }
      if (port >= FIRST_FREE && known.add(port)) {
        ports.add(port);
      }
    }
    while (ports.size() < count) {
      int port = FIRST_FREE + random.nextInt(0x10000 - FIRST_FREE);
      if (known.add(port)) {
        ports.add(port);
      }
    }
    return List.copyOf(ports.subList(0, count));
  }

  /**
   * Fits a linear hash to measured paths.
   *
   * @param pathOfPort path of each measured port
   * @throws HeddleException if there are too few ports, or the number of paths isn't a power of two
   */
  public static LinearFit of(Map<Integer, String> pathOfPort) {
    TreeMap<Integer, String> known = new TreeMap<>(pathOfPort);
    SortedSet<String> paths = new TreeSet<>(known.values());
    if (paths.size() < 2) {
      throw new HeddleException(
          "all %s measured ports take the same path: there is nothing to fit"
              .formatted(known.size()));
    }
    if (Integer.bitCount(paths.size()) != 1 || paths.size() > MOST_PATHS) {
      throw new HeddleException(
          "there are %s paths; only groups of a power of two, up to %s, can be linear in the port"
              .formatted(paths.size(), MOST_PATHS));
    }
    int base = base(known);
    List<Integer> heldOut = heldOut(known, base);
    SortedMap<Integer, String> learned = new TreeMap<>(known);
    heldOut.forEach(learned::remove);
    PortMap map = new CodeSearch(base, learned, paths).best();
    int right = 0;
    for (int port : heldOut) {
      right += Objects.equals(known.get(port), map.path(port)) ? 1 : 0;
    }
    return new LinearFit(map, paths.size(), learned.size(), heldOut.size(), right);
  }

  private static int base(SortedMap<Integer, String> known) {
    for (int port : known.keySet()) {
      if (isNeighbourhood(port, known)) {
        return port;
      }
    }
    throw new HeddleException(
        "no measured port has its 16 neighbours of one flipped bit measured too: measure again,"
            + " with --ports "
            + PLANNED
            + " or more");
  }

  private static boolean isNeighbourhood(int base, Map<Integer, String> known) {
    for (int bit = 0; bit < PORT_BITS; bit++) {
      if (!known.containsKey(base ^ 1 << bit)) {
        return false;
      }
    }
    return true;
  }

  /*
   * Returns the ports to hold out: those that differ from the base in the largest number of bits.
   * The fit learns from ports that differ in few bits.
   */
  private static List<Integer> heldOut(SortedMap<Integer, String> known, int base) {
    List<Integer> far =
        known.keySet().stream()
            .filter(port -> Integer.bitCount(port ^ base) > 1)
            .sorted(
                Comparator.comparingInt((Integer port) -> -Integer.bitCount(port ^ base))
                    .thenComparing(Comparator.naturalOrder()))
            .limit(HELD_OUT)
            .toList();
    if (far.size() < HELD_OUT) {
      throw new HeddleException(
          "besides a base and its neighbours there are only %s ports, but %s are held out to test"
                  .formatted(far.size(), HELD_OUT)
              + " the fit: measure again, with --ports "
              + PLANNED
              + " or more");
    }
    return far;
  }

  /**
   * Search for the codes of the paths with which a linear hash predicts the most learned ports
   * correctly. The hash maps a port to a code ({@link PortMap}), and the base port's path has code
   * 0. Codes are unique only up to a change of basis. So for a path without a code, the search
   * tries the next power of two, and each unused XOR of earlier codes. Used for one search, by one
   * thread.
   */
  private static final class CodeSearch {
    private static final int MOST_STEPS = 100_000;

    private final int base;
    private final SortedMap<Integer, String> learned;
    private final SortedSet<String> names;
    private final int paths;
    private final List<List<Integer>> checks = new ArrayList<>();
    private final int[] flips = new int[PORT_BITS];
    private final @Nullable String[] pathOfCode;
    private int steps;
    private int fewestWrong = Integer.MAX_VALUE;
    private PortMap best;

    CodeSearch(int base, SortedMap<Integer, String> learned, SortedSet<String> names) {
      this.base = base;
      this.learned = learned;
      this.names = names;
      this.paths = names.size();
      pathOfCode = new String[paths];
      pathOfCode[0] = learned.get(base);
      best = map();
      for (int bit = 0; bit < PORT_BITS; bit++) {
        int highest = bit;
        checks.add(
            learned.keySet().stream()
                .filter(port ->
                    Integer.bitCount(port ^ base) > 1
                        && Integer.highestOneBit(port ^ base) == 1 << highest)
                .toList());
      }
    }

    PortMap best() {
      search(0, 1, 0);
      return best;
    }

    private PortMap map() {
      List<Integer> all = new ArrayList<>();
      for (int flip : flips) {
        all.add(flip);
      }
      List<@Nullable String> byCode = new ArrayList<@Nullable String>(Arrays.asList(pathOfCode));
      List<String> left = names.stream().filter(name -> !byCode.contains(name)).toList();
      if (left.size() == 1) {
        byCode.set(byCode.indexOf(null), left.getFirst());
      }
      return new PortMap(base, all, byCode);
    }

    /**
     * Searches for the bits of the code that this bit of the port flips, and then for the bits that
     * each higher bit of the port flips.
     *
     * @param span exclusive upper bound of the codes that are XORs of codes in use
     * @param wrong number of learned ports for which the hash is wrong so far
     */
    private void search(int bit, int span, int wrong) {
      if (wrong >= fewestWrong || ++steps > MOST_STEPS) {
        return;
      }
      if (bit == PORT_BITS) {
        fewestWrong = wrong;
        best = map();
        return;
      }
      String path = learned.get(base ^ 1 << bit);
      int code = codeOf(path);
      if (code >= 0) {
        tryCode(bit, code, span, wrong);
        return;
      }
      if (span < paths) {
        pathOfCode[span] = path;
        tryCode(bit, span, 2 * span, wrong);
        pathOfCode[span] = null;
      }
      for (int sum = 1; sum < span; sum++) {
        if (pathOfCode[sum] == null) {
          pathOfCode[sum] = path;
          tryCode(bit, sum, span, wrong);
          pathOfCode[sum] = null;
        }
      }
    }

    private void tryCode(int bit, int code, int span, int wrong) {
      flips[bit] = code;
      List<Integer> named = new ArrayList<>();
      int more = 0;
      for (int port : checks.get(bit)) {
        int sum = 0;
        for (int each = 0; each <= bit; each++) {
          sum ^= ((port ^ base) >>> each & 1) * flips[each];
        }
        String path = learned.get(port);
        if (pathOfCode[sum] == null && codeOf(path) < 0) {
          pathOfCode[sum] = path;
          named.add(sum);
        } else if (!Objects.equals(pathOfCode[sum], path)) {
          more++;
        }
      }
      search(bit + 1, span, wrong + more);
      named.forEach(each -> pathOfCode[each] = null);
    }

    private int codeOf(@Nullable String path) {
      for (int code = 0; code < paths; code++) {
        if (Objects.equals(pathOfCode[code], path)) {
          return code;
        }
      }
      return -1;
    }
  }
}
