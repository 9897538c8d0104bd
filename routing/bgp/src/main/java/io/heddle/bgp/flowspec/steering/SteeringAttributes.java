package io.heddle.bgp.flowspec.steering;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.ExtendedCommunity.RouteTarget;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Codec of the path attributes of a rule's announcement. A {@link SteeringEncoding} expresses the
 * segment list; a route target with the gateway's router id names the gateway.
 *
 * @param encoding encoding of the list
 */
public record SteeringAttributes(SteeringEncoding encoding) {
  private static final long LOCAL_PREFERENCE = 100;

  /*
   * Extended communities of RFC 8955 §7. The redirect's sub-type is used with the generic
   * transitive experimental types 0x80 to 0x82.
   */
  private static final int RATE_BYTES = 0x8006;
  private static final int TRAFFIC_ACTION = 0x8007;
  private static final int MARKING = 0x8009;
  private static final int RATE_PACKETS = 0x800c;
  private static final int REDIRECT_SUBTYPE = 0x08;

  /**
   * Returns the path attributes of a rule's UPDATE.
   *
   * @param gateway router id of the gateway that has the list
   * @param ownAs number of the speaker's AS
   * @param external whether the peer is in another AS
   */
  public PathAttributes write(int list, int gateway, long ownAs, boolean external) {
    List<PathAttribute> all = new ArrayList<>();
    all.add(PathAttribute.Origin.IGP);
    all.add(new PathAttribute.Path(external ? AsPath.of(ownAs) : AsPath.EMPTY));
    if (!external) {
      all.add(new PathAttribute.LocalPreference(LOCAL_PREFERENCE));
    }
    List<ExtendedCommunity> communities = new ArrayList<>(encoding.communities(list));
    communities.add(new RouteTarget(RouteTarget.Administrator.ADDRESS, gateway & 0xffff_ffffL, 0));
    all.add(new PathAttribute.ExtendedCommunities(communities));
    all.addAll(encoding.attributes(list));
    return new PathAttributes(all);
  }

  /**
   * Parses an announcement's attributes. Returns the list, or the reason for refusing the rule.
   *
   * @param gateway router id of the receiving gateway
   */
  public SteeringEncoding.ListOrRefusal read(PathAttributes attributes, int gateway) {
    boolean addressed = false;
    boolean ours = false;
    for (ExtendedCommunity each : attributes.extendedCommunities()) {
      if (each instanceof RouteTarget target) {
        addressed = true;
        ours |=
            target.kind() == RouteTarget.Administrator.ADDRESS
                && (int) target.administrator() == gateway;
      } else if (each instanceof ExtendedCommunity.Other other) {
        RuleRefusal refusal = refused(other.raw());
        if (refusal != null) {
          return SteeringEncoding.ListOrRefusal.refused(refusal);
        }
      }
    }
    if (addressed && !ours) {
      return SteeringEncoding.ListOrRefusal.refused(RuleRefusal.FOR_ANOTHER_GATEWAY);
    }
    return encoding.read(attributes);
  }

  private static @Nullable RuleRefusal refused(long community) {
    int type = (int) (community >>> 48);
    if (type >>> 8 >= 0x80 && type >>> 8 <= 0x82 && (type & 0xff) == REDIRECT_SUBTYPE) {
      return RuleRefusal.REDIRECTS_TO_VRF;
    }
    return switch (type) {
      case RATE_BYTES, RATE_PACKETS ->
          Float.intBitsToFloat((int) community) == 0 ? RuleRefusal.DROPS : RuleRefusal.LIMITS_RATE;
      case TRAFFIC_ACTION, MARKING -> RuleRefusal.MARKS;
      default -> null;
    };
  }
}
