package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Inputs of the ownership decision. Bridges with equal views derive the same owners from them. A
 * digest shows whether two views are equal. Immutable.
 */
public final class View {
  /** Owner if no bridge can own the group. */
  public static final int NOBODY = 0;

  static final Comparator<Gid> BY_ADDRESS =
      Comparator.comparingLong(Gid::high).thenComparingLong(Gid::low);
  private static final int ENTRY_BYTES = Gid.BYTES + Integer.BYTES;

  private final List<Member> members;
  private final List<Member> best;
  private final Map<Gid, Integer> fixed;
  private final Map<Gid, Integer> pinned;
  private final long digest;

  /**
   * Bridge that can own groups.
   *
   * @param reserve whether the bridge owns nothing while another one can
   */
  public record Member(int id, long incarnation, int priority, int weight, boolean reserve) {}

  /**
   * @param members bridges that can own groups, in any order
   * @param fixed owners by the configuration
   * @param pinned owners by operators' orders, which take precedence
   */
  public View(List<Member> members, Map<Gid, Integer> fixed, Map<Gid, Integer> pinned) {
    this.members = members.stream().sorted(Comparator.comparingInt(Member::id)).toList();
    this.fixed = sorted(fixed);
    this.pinned = sorted(pinned);
    boolean others = members.stream().anyMatch(each -> !each.reserve());
    List<Member> ready = this.members.stream().filter(each -> !others || !each.reserve()).toList();
    int priority = ready.stream().mapToInt(Member::priority).max().orElse(0);
    best = ready.stream().filter(each -> each.priority() == priority).toList();
    digest = makeDigest();
  }

  /** Returns whether this view was built from these inputs. */
  boolean matches(
      List<Member> others, Map<Gid, Integer> otherFixed, Map<Gid, Integer> otherPinned) {
    return members.size() == others.size()
        && members.containsAll(others)
        && fixed.equals(otherFixed)
        && pinned.equals(otherPinned);
  }

  private static Map<Gid, Integer> sorted(Map<Gid, Integer> owners) {
    Map<Gid, Integer> sorted = new TreeMap<>(BY_ADDRESS);
    sorted.putAll(owners);
    return sorted;
  }

  private long makeDigest() {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (Member each : members) {
        ByteBuffer bytes = ByteBuffer.allocate(21);
        bytes.putInt(each.id()).putLong(each.incarnation());
        bytes.putInt(each.priority()).putInt(each.weight()).put((byte) (each.reserve() ? 1 : 0));
        sha.update(bytes.array());
      }
      update(sha, fixed);
      update(sha, pinned);
      return ByteBuffer.wrap(sha.digest()).getLong();
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java has SHA-256", missing);
    }
  }

  private static void update(MessageDigest sha, Map<Gid, Integer> owners) {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + owners.size() * ENTRY_BYTES);
    bytes.putInt(owners.size());
    owners.forEach((group, owner) -> bytes.put(group.toBytes()).putInt(owner));
    sha.update(bytes.array());
  }

  /** Returns the owner of a group; {@link #NOBODY} if no bridge can own it. */
  public int ownerOf(Gid group) {
    Integer named = present(pinned.get(group));
    if (named == null) {
      named = present(fixed.get(group));
    }
    return named == null ? byHash(group, NOBODY) : named;
  }

  private @Nullable Integer present(@Nullable Integer id) {
    return id != null && members.stream().anyMatch(each -> each.id() == id) ? id : null;
  }

  /**
   * Returns the bridge that would own a group if bridge {@code id} were gone, without operators'
   * orders; {@link #NOBODY} if none could.
   */
  public int ownerWithout(Gid group, int id) {
    List<Member> others = members.stream().filter(each -> each.id() != id).toList();
    return new View(others, fixed, Map.of()).ownerOf(group);
  }

  private int byHash(Gid group, int none) {
    int owner = none;
    double highest = 0;
    for (Member each : best) {
      double score = Rendezvous.score(each.id(), each.weight(), group);
      if (score > highest) {
        highest = score;
        owner = each.id();
      }
    }
    return owner;
  }

  /** Returns whether a bridge can own groups. */
  public boolean has(int id) {
    return members.stream().anyMatch(each -> each.id() == id);
  }

  /** Returns the digest of all inputs. */
  public long digest() {
    return digest;
  }
}
