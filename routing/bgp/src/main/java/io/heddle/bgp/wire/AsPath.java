package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** AS path of a route, nearest AS first (RFC 4271 §4.3, RFC 5065). */
public record AsPath(List<Segment> segments) {
  public static final AsPath EMPTY = new AsPath(List.of());

  static final int SET = 1;
  static final int SEQUENCE = 2;
  static final int CONFEDERATION_SEQUENCE = 3;
  static final int CONFEDERATION_SET = 4;

  /**
   * @param type 1 set, 2 sequence, 3 confederation sequence, 4 confederation set
   */
  public record Segment(int type, List<Long> autonomousSystems) {
    public Segment {
      autonomousSystems = List.copyOf(autonomousSystems);
    }

    @Override
    public String toString() {
      String text =
          autonomousSystems.stream().map(String::valueOf).collect(Collectors.joining(" "));
      return switch (type) {
        case SET -> "{" + text + "}";
        case CONFEDERATION_SEQUENCE -> "(" + text + ")";
        case CONFEDERATION_SET -> "({" + text + "})";
        default -> text;
      };
    }
  }

  public AsPath {
    segments = List.copyOf(segments);
  }

  public static AsPath of(long... autonomousSystems) {
    List<Long> all = new ArrayList<>();
    for (long each : autonomousSystems) {
      all.add(each);
    }
    return all.isEmpty() ? EMPTY : new AsPath(List.of(new Segment(SEQUENCE, all)));
  }

  /**
   * Returns the path length for route comparison: a set counts as one AS, a confederation segment
   * as none.
   */
  public int hops() {
    int hops = 0;
    for (Segment segment : segments) {
      hops +=
          switch (segment.type) {
            case SEQUENCE -> segment.autonomousSystems.size();
            case SET -> 1;
            default -> 0;
          };
    }
    return hops;
  }

  public boolean contains(long autonomousSystem) {
    /*
     * This method runs for every UPDATE. It avoids iterators and boxing, since the C1 compiler
     * doesn't remove their allocations.
     */
    for (int i = 0; i < segments.size(); i++) {
      List<Long> all = segments.get(i).autonomousSystems;
      for (int j = 0; j < all.size(); j++) {
        if (all.get(j) == autonomousSystem) {
          return true;
        }
      }
    }
    return false;
  }

  /** Returns the path without confederation segments. */
  AsPath withoutConfederations() {
    List<Segment> left = segments.stream().filter(each -> each.type <= SEQUENCE).toList();
    return left.size() == segments.size() ? this : new AsPath(left);
  }

  /**
   * Returns why the path is forbidden in an UPDATE (RFC 7607 §2, RFC 5065 §5, RFC 9774 §3); null if
   * it is valid.
   */
  @Nullable String invalidReason(boolean external, boolean acceptSets) {
    if (contains(0)) {
      return "AS 0 in the path is reserved (RFC 7607)";
    }
    for (Segment each : segments) {
      if (each.type >= CONFEDERATION_SEQUENCE && external) {
        return "a confederation segment from a peer of another AS (RFC 5065)";
      }
      if ((each.type == SET || each.type == CONFEDERATION_SET) && !acceptSets) {
        return "an AS_SET in the path (RFC 9774; as-sets = yes accepts it)";
      }
    }
    return null;
  }

  /**
   * Returns the first AS of the path, the neighbour's; −1 for an empty path or a path that begins
   * with a set.
   */
  public long first() {
    return segments.isEmpty() || segments.getFirst().type != SEQUENCE
        ? -1
        : segments.getFirst().autonomousSystems.getFirst();
  }

  @Override
  public String toString() {
    return segments.stream().map(Segment::toString).collect(Collectors.joining(" "));
  }
}
