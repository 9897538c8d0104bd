package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Address families that a speaker, or a session, speaks.
 *
 * @param ipv6Unicast whether IPv6 unicast is one: its routes are numbers in arrays and need no
 *     codec
 * @param ipv4Unicast whether IPv4 unicast is one, which is likewise
 * @param codecs of the others
 */
public record Families(boolean ipv6Unicast, boolean ipv4Unicast, List<FamilyCodec<?>> codecs) {
  public static final Families IPV6_UNICAST = new Families(true, false, List.of());
  public static final Families IPV4_UNICAST = new Families(false, true, List.of());
  public static final Families UNICAST = new Families(true, true, List.of());

  /**
   * @throws IllegalArgumentException where there is no family, or two codecs for one
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

  /** Those that these codecs are for, and no unicast. */
  public static Families of(List<? extends FamilyCodec<?>> codecs) {
    return new Families(false, false, List.copyOf(codecs));
  }

  /** These and one more. */
  public Families and(FamilyCodec<?> codec) {
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

  /** Those of them whose routes are numbers. */
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

  /** Null for a family that isn't one of these, and for unicast. */
  @Nullable FamilyCodec<?> codec(int afi, int safi) {
    for (int i = 0; i < codecs.size(); i++) {
      AddressFamily family = codecs.get(i).family();
      if (family.afi() == afi && family.safi() == safi) {
        return codecs.get(i);
      }
    }
    return null;
  }

  /** Those of these that fulfil a condition; null where there is none. */
  public @Nullable Families only(Predicate<AddressFamily> condition) {
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
