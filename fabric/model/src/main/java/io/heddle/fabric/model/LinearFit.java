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
 * Whether a hash is linear in the source port, found from which way each of some ports took (RePaC,
 * USENIX ATC 2021: the XOR and CRC hashes of deployed switches are). It learns from a base, its 16
 * neighbours of one flipped bit and other ports; it is judged by 32 ports that were held out.
 *
 * @param map what was learned
 * @param ways how many ways there are
 * @param learned ports that it was learned from
 * @param heldOut ports that it was judged by
 * @param right held-out ports whose way it foretold
 */
public record LinearFit(PortMap map, int ways, int learned, int heldOut, int right) {
  /** Held-out accuracy below which a hash doesn't count as linear. */
  public static final double LEAST_ACCURACY = 0.95;

  /** How many ports are held out. */
  public static final int HELD_OUT = 32;

  /**
   * Ports of a plan: the base, its neighbours, some of two or three flipped bits, held-out ones.
   */
  public static final int PLANNED = 1 + 16 + 15 + HELD_OUT;

  static final int PORT_BITS = 16;

  /* Ports below it are for root alone. */
  private static final int FIRST_FREE = 1024;

  private static final int MOST_WAYS = 64;

  /** The share of held-out ports whose way was foretold. */
  public double accuracy() {
    return (double) right / heldOut;
  }

  /** Whether the hash counts as linear. */
  public boolean isLinear() {
    return accuracy() >= LEAST_ACCURACY;
  }

  /**
   * Ports to measure, so that a fit can be made: the base, its neighbours and some near it, then
   * any at random; none twice and none below 1024. {@link #PLANNED} suffice for groups of up to
   * four.
   *
   * @param base from 49152 on, so that no neighbour is a privileged port
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
   * Fits.
   *
   * @param wayOfPort which way each measured port took
   * @throws HeddleException where the ports don't suffice, or the number of ways is no power of two
   */
  public static LinearFit of(Map<Integer, String> wayOfPort) {
    TreeMap<Integer, String> known = new TreeMap<>(wayOfPort);
    SortedSet<String> ways = new TreeSet<>(known.values());
    if (ways.size() < 2) {
      throw new HeddleException(
          "all %s measured ports take the same way: there is nothing to fit"
              .formatted(known.size()));
    }
    if (Integer.bitCount(ways.size()) != 1 || ways.size() > MOST_WAYS) {
      throw new HeddleException(
          "there are %s ways; only groups of a power of two, up to %s, can be linear in the port"
              .formatted(ways.size(), MOST_WAYS));
    }
    int base = base(known);
    List<Integer> heldOut = heldOut(known, base);
    SortedMap<Integer, String> learned = new TreeMap<>(known);
    heldOut.forEach(learned::remove);
    PortMap map = new CodeSearch(base, learned, ways).best();
    int right = 0;
    for (int port : heldOut) {
      right += Objects.equals(known.get(port), map.way(port)) ? 1 : 0;
    }
    return new LinearFit(map, ways.size(), learned.size(), heldOut.size(), right);
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

  /* Those that differ most from the base: near ones are what it learns from. */
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
          "besides a base and its neighbours there are only %s ports, and %s are held out to judge"
                  .formatted(far.size(), HELD_OUT)
              + " the fit: measure again, with --ports "
              + PLANNED
              + " or more");
    }
    return far;
  }

  /**
   * Looks for codes of ways under which as many learned ports as possible agree with a linear hash.
   * The base's way has code 0. Codes are told apart only up to a change of basis, so the first way
   * that is new takes the next power of two, or a sum of those before. One search, one thread.
   */
  private static final class CodeSearch {
    private static final int MOST_STEPS = 100_000;

    private final int base;
    private final SortedMap<Integer, String> learned;
    private final SortedSet<String> names;
    private final int ways;
    private final List<List<Integer>> checks = new ArrayList<>();
    private final int[] flips = new int[PORT_BITS];
    private final @Nullable String[] wayOfCode;
    private int steps;
    private int fewestWrong = Integer.MAX_VALUE;
    private PortMap best;

    CodeSearch(int base, SortedMap<Integer, String> learned, SortedSet<String> names) {
      this.base = base;
      this.learned = learned;
      this.names = names;
      this.ways = names.size();
      wayOfCode = new String[ways];
      wayOfCode[0] = learned.get(base);
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
      look(0, 1, 0);
      return best;
    }

    private PortMap map() {
      List<Integer> all = new ArrayList<>();
      for (int flip : flips) {
        all.add(flip);
      }
      List<@Nullable String> byCode = new ArrayList<@Nullable String>(Arrays.asList(wayOfCode));
      List<String> left = names.stream().filter(name -> !byCode.contains(name)).toList();
      if (left.size() == 1) {
        byCode.set(byCode.indexOf(null), left.getFirst());
      }
      return new PortMap(base, all, byCode);
    }

    /**
     * @param span codes below it are sums of those that were taken
     * @param wrong learned ports that disagree so far
     */
    private void look(int bit, int span, int wrong) {
      if (wrong >= fewestWrong || ++steps > MOST_STEPS) {
        return;
      }
      if (bit == PORT_BITS) {
        fewestWrong = wrong;
        best = map();
        return;
      }
      String way = learned.get(base ^ 1 << bit);
      int code = codeOf(way);
      if (code >= 0) {
        take(bit, code, span, wrong);
        return;
      }
      if (span < ways) {
        wayOfCode[span] = way;
        take(bit, span, 2 * span, wrong);
        wayOfCode[span] = null;
      }
      for (int sum = 1; sum < span; sum++) {
        if (wayOfCode[sum] == null) {
          wayOfCode[sum] = way;
          take(bit, sum, span, wrong);
          wayOfCode[sum] = null;
        }
      }
    }

    private void take(int bit, int code, int span, int wrong) {
      flips[bit] = code;
      List<Integer> named = new ArrayList<>();
      int more = 0;
      for (int port : checks.get(bit)) {
        int sum = 0;
        for (int each = 0; each <= bit; each++) {
          sum ^= ((port ^ base) >>> each & 1) * flips[each];
        }
        String way = learned.get(port);
        if (wayOfCode[sum] == null && codeOf(way) < 0) {
          wayOfCode[sum] = way;
          named.add(sum);
        } else if (!Objects.equals(wayOfCode[sum], way)) {
          more++;
        }
      }
      look(bit + 1, span, wrong + more);
      named.forEach(each -> wayOfCode[each] = null);
    }

    private int codeOf(@Nullable String way) {
      for (int code = 0; code < ways; code++) {
        if (Objects.equals(wayOfCode[code], way)) {
          return code;
        }
      }
      return -1;
    }
  }
}
