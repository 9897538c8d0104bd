package io.heddle.bgp.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Routes that came and went (RFC 4271 §4.3, RFC 4760). Those of unicast are numbers side by side,
 * IPv4's as mapped prefixes; those of other families are what their codecs make of them.
 *
 * @param withdrawn unicast routes that are gone, those of a malformed announcement among them (RFC
 *     7606)
 * @param announced unicast routes that are there, replacing earlier ones of the same prefix
 * @param attributes of all announced routes; empty where none is announced
 * @param nextHop of the announced unicast routes
 * @param faults what was malformed and survived
 * @param ignored announced prefixes that can be nobody's route and were passed over
 * @param skippedFamilies runs of routes of families that the session doesn't speak, which aren't
 *     read
 * @param others routes of families beside unicast, two at most
 * @param endOfRib the family whose first dump is over, as this says (RFC 4724 §2); null where it
 *     says anything else
 */
public record UpdateMessage(
    Nlri withdrawn,
    Nlri announced,
    PathAttributes attributes,
    @Nullable NextHop nextHop,
    List<AttributeFault> faults,
    int ignored,
    int skippedFamilies,
    List<FamilyRoutes<?>> others,
    @Nullable AddressFamily endOfRib)
    implements BgpMessage {
  /** Of IPv6 unicast. */
  public static final UpdateMessage END_OF_RIB = end(AddressFamily.IPV6_UNICAST);

  public UpdateMessage {
    faults = List.copyOf(faults);
    others = List.copyOf(others);
  }

  /** Of unicast alone. */
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

  /** Routes of a family beside unicast. */
  public static UpdateMessage of(FamilyRoutes<?> routes, PathAttributes attributes) {
    return new UpdateMessage(
        Nlri.EMPTY, Nlri.EMPTY, attributes, null, List.of(), 0, 0, List.of(routes), null);
  }

  static UpdateMessage end(AddressFamily family) {
    return new UpdateMessage(
        Nlri.EMPTY, Nlri.EMPTY, PathAttributes.EMPTY, null, List.of(), 0, 0, List.of(), family);
  }

  /** End-of-RIB of each family that a session speaks. */
  public static List<UpdateMessage> endsOfRib(Families families) {
    return families.all().stream().map(UpdateMessage::end).toList();
  }

  /** What it says of a family; null for nothing. */
  @SuppressWarnings("unchecked")
  public <R> @Nullable FamilyRoutes<R> of(FamilyCodec<R> codec) {
    for (FamilyRoutes<?> each : others) {
      if (each.codec() == codec) {
        return (FamilyRoutes<R>) each;
      }
    }
    return null;
  }

  /** Announced routes of all families. */
  public int announcedRoutes() {
    int sum = announced.size();
    for (int i = 0; i < others.size(); i++) {
      sum += others.get(i).announced().size();
    }
    return sum;
  }

  /** Withdrawn routes of all families. */
  public int withdrawnRoutes() {
    int sum = withdrawn.size();
    for (int i = 0; i < others.size(); i++) {
      sum += others.get(i).withdrawn().size();
    }
    return sum;
  }

  /** Whether an announced route of any family has this next hop. */
  public @Nullable NextHop nextHopAt(long high, long low) {
    if (nextHop != null && nextHop.is(high, low)) {
      return nextHop;
    }
    for (int i = 0; i < others.size(); i++) {
      NextHop other = others.get(i).nextHop();
      if (other != null && other.is(high, low)) {
        return other;
      }
    }
    return null;
  }

  /** The same with every announced route as a withdrawn one. */
  public UpdateMessage allWithdrawn(List<AttributeFault> why) {
    return new UpdateMessage(
        withdrawn.and(announced),
        Nlri.EMPTY,
        PathAttributes.EMPTY,
        null,
        why,
        ignored,
        skippedFamilies,
        others.stream().<FamilyRoutes<?>>map(each -> each.allWithdrawn()).toList(),
        null);
  }
}
