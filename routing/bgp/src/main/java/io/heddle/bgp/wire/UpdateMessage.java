package io.heddle.bgp.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * UPDATE: announced and withdrawn routes (RFC 4271 §4.3, RFC 4760). Unicast routes are numbers in
 * arrays, with IPv4 prefixes as mapped ones. Routes of other families are values of their codecs.
 *
 * @param withdrawn withdrawn unicast routes, including those of a malformed announcement (RFC 7606)
 * @param announced announced unicast routes, which replace earlier routes of the same prefix
 * @param attributes attributes of all announced routes; empty if none is announced
 * @param nextHop next hop of the announced unicast routes
 * @param faults malformed attributes that didn't end the session
 * @param ignored number of announced prefixes that can't be routed
 * @param skippedFamilies number of route lists that weren't read, because the session doesn't speak
 *     their family
 * @param otherFamilies routes of families other than unicast; two families at most
 * @param endOfRib family whose initial dump is complete (RFC 4724 §2); null otherwise
 */
public record UpdateMessage(
    Nlri withdrawn,
    Nlri announced,
    PathAttributes attributes,
    @Nullable NextHop nextHop,
    List<AttributeFault> faults,
    int ignored,
    int skippedFamilies,
    List<FamilyRoutes<?>> otherFamilies,
    @Nullable AddressFamily endOfRib)
    implements BgpMessage {
  /** End-of-RIB of IPv6 unicast. */
  public static final UpdateMessage END_OF_RIB = endOfRibFor(AddressFamily.IPV6_UNICAST);

  public UpdateMessage {
    faults = List.copyOf(faults);
    otherFamilies = List.copyOf(otherFamilies);
  }

  /** Creates an UPDATE of unicast routes only. */
  UpdateMessage(
      Nlri withdrawn,
      Nlri announced,
      PathAttributes attributes,
      @Nullable NextHop nextHop,
      List<AttributeFault> faults,
      int ignored,
      int skippedFamilies) {
    this(
        withdrawn,
        announced,
        attributes,
        nextHop,
        faults,
        ignored,
        skippedFamilies,
        List.of(),
        null);
  }

  public static UpdateMessage withdraw(Nlri withdrawn) {
    return new UpdateMessage(withdrawn, Nlri.EMPTY, PathAttributes.EMPTY, null, List.of(), 0, 0);
  }

  public static UpdateMessage announce(Nlri announced, PathAttributes attributes, NextHop nextHop) {
    return new UpdateMessage(Nlri.EMPTY, announced, attributes, nextHop, List.of(), 0, 0);
  }

  /** Returns an UPDATE of a family other than unicast. */
  public static UpdateMessage of(FamilyRoutes<?> routes, PathAttributes attributes) {
    return new UpdateMessage(
        Nlri.EMPTY, Nlri.EMPTY, attributes, null, List.of(), 0, 0, List.of(routes), null);
  }

  static UpdateMessage endOfRibFor(AddressFamily family) {
    return new UpdateMessage(
        Nlri.EMPTY, Nlri.EMPTY, PathAttributes.EMPTY, null, List.of(), 0, 0, List.of(), family);
  }

  /** Returns an End-of-RIB for each of the families. */
  public static List<UpdateMessage> endsOfRib(Families families) {
    return families.all().stream().map(UpdateMessage::endOfRibFor).toList();
  }

  /** Returns the routes of a codec's family; null if the message has none. */
  @SuppressWarnings("unchecked")
  public <R> @Nullable FamilyRoutes<R> of(FamilyCodec<R> codec) {
    for (FamilyRoutes<?> each : otherFamilies) {
      if (each.codec().equals(codec)) {
        return (FamilyRoutes<R>) each;
      }
    }
    return null;
  }

  /** Returns the number of announced routes of all families. */
  public int announcedRoutes() {
    int sum = announced.size();
    for (int i = 0; i < otherFamilies.size(); i++) {
      sum += otherFamilies.get(i).announced().size();
    }
    return sum;
  }

  /** Returns the number of withdrawn routes of all families. */
  public int withdrawnRoutes() {
    int sum = withdrawn.size();
    for (int i = 0; i < otherFamilies.size(); i++) {
      sum += otherFamilies.get(i).withdrawn().size();
    }
    return sum;
  }

  /** Returns the next hop of announced routes that has this address; null if none has it. */
  public @Nullable NextHop nextHopAt(long high, long low) {
    if (nextHop != null && nextHop.hasAddress(high, low)) {
      return nextHop;
    }
    for (int i = 0; i < otherFamilies.size(); i++) {
      NextHop other = otherFamilies.get(i).nextHop();
      if (other != null && other.hasAddress(high, low)) {
        return other;
      }
    }
    return null;
  }

  /** Returns this UPDATE with every announced route turned into a withdrawn one. */
  public UpdateMessage allWithdrawn(List<AttributeFault> why) {
    return new UpdateMessage(
        withdrawn.plus(announced),
        Nlri.EMPTY,
        PathAttributes.EMPTY,
        null,
        why,
        ignored,
        skippedFamilies,
        otherFamilies.stream().<FamilyRoutes<?>>map(each -> each.allWithdrawn()).toList(),
        null);
  }
}
