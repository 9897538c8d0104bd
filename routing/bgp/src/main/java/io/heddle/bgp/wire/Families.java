package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Address families of a speaker or a session.
 *
 * @param ipv6Unicast whether IPv6 unicast is included; it needs no codec, because unicast routes
 *     are numbers in arrays
 * @param ipv4Unicast whether IPv4 unicast is included; it needs no codec either
 * @param codecs codecs of all other families
 */
public record Families(boolean ipv6Unicast, boolean ipv4Unicast, List<FamilyCodec<?>> codecs) {
  public static final Families IPV6_UNICAST = new Families(true, false, List.of());
  public static final Families IPV4_UNICAST = new Families(false, true, List.of());
  public static final Families UNICAST = new Families(true, true, List.of());

  /**
   * @throws IllegalArgumentException if there is no family, or a family has two codecs
   */
  public Families {
    codecs = List.copyOf(codecs);
    long different = codecs.stream().map(FamilyCodec::family).distinct().count();
    if (different < codecs.size() || codecs.stream().anyMatch(each -> each.family().isUnicast())) {
      throw new IllegalArgumentException("two codecs for one address family");
    }
    if (!ipv6Unicast && !ipv4Unicast && codecs.isEmpty()) {
      throw new IllegalArgumentException("a session needs an address family");
    }
  }

  /** Returns the families of these codecs; the unicast families aren't included. */
  public static Families of(List<? extends FamilyCodec<?>> codecs) {
    return new Families(false, false, List.copyOf(codecs));
  }

  /** Returns these families together with the codec's family. */
  public Families with(FamilyCodec<?> codec) {
    List<FamilyCodec<?>> more = new ArrayList<>(codecs);
    more.add(codec);
    return new Families(ipv6Unicast, ipv4Unicast, more);
  }

  public List<AddressFamily> all() {
    List<AddressFamily> all = new ArrayList<>();
    if (ipv6Unicast) {
      all.add(AddressFamily.IPV6_UNICAST);
    }
    if (ipv4Unicast) {
      all.add(AddressFamily.IPV4_UNICAST);
    }
    codecs.forEach(each -> all.add(each.family()));
    return all;
  }

  /** Returns the unicast families. */
  public List<AddressFamily> unicast() {
    return all().stream().filter(AddressFamily::isUnicast).toList();
  }

  public boolean has(AddressFamily family) {
    return family.equals(AddressFamily.IPV6_UNICAST)
        ? ipv6Unicast
        : family.equals(AddressFamily.IPV4_UNICAST)
            ? ipv4Unicast
            : codec(family.afi(), family.safi()) != null;
  }

  /** Returns the family's codec; null for unicast and for a family that isn't included. */
  @Nullable FamilyCodec<?> codec(int afi, int safi) {
    for (int i = 0; i < codecs.size(); i++) {
      AddressFamily family = codecs.get(i).family();
      if (family.afi() == afi && family.safi() == safi) {
        return codecs.get(i);
      }
    }
    return null;
  }

  /** Returns the families that fulfil a condition; null if there are none. */
  public @Nullable Families filter(Predicate<AddressFamily> condition) {
    boolean ipv6 = ipv6Unicast && condition.test(AddressFamily.IPV6_UNICAST);
    boolean ipv4 = ipv4Unicast && condition.test(AddressFamily.IPV4_UNICAST);
    List<FamilyCodec<?>> left = new ArrayList<>();
    for (FamilyCodec<?> codec : codecs) {
      if (condition.test(codec.family())) {
        left.add(codec);
      }
    }
    return ipv6 || ipv4 || !left.isEmpty() ? new Families(ipv6, ipv4, left) : null;
  }
}
