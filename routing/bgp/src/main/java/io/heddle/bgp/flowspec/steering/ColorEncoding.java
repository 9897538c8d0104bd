package io.heddle.bgp.flowspec.steering;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Encoding of a segment list as colour and endpoint, for routers that can't redirect to a list:
 * each list is an SRv6 policy of its own, identified by its colour and endpoint (RFC 9012 §4.3, RFC
 * 9256; draft-ietf-idr-flowspec-redirect-ip).
 *
 * <pre>
 * attribute 16: 03 0b | flags 2 | colour 4
 * attribute 25: TT TT | endpoint 16 | copy 2
 * </pre>
 *
 * @param redirectType type number, in attribute 25, of the redirect to an IPv6 address
 * @param policies colour and endpoint of each list, by list id; all different
 */
public record ColorEncoding(int redirectType, Map<Integer, Policy> policies)
    implements SteeringEncoding {
  public static final int DEFAULT_REDIRECT_TYPE = 0x000c;
  private static final int IPV6_EXTENDED_COMMUNITIES = 25;
  private static final int IPV6_COMMUNITY_BYTES = 20;

  /**
   * Colour and endpoint of an SRv6 policy. With the headend they are the policy's key (RFC 9256
   * §2.1).
   */
  public record Policy(long color, Prefix endpoint) {}

  /**
   * @throws IllegalArgumentException if two lists have the same policy
   */
  public ColorEncoding {
    policies = Map.copyOf(policies);
    if (policies.values().stream().distinct().count() < policies.size()) {
      throw new IllegalArgumentException("two segment lists with one colour and endpoint");
    }
  }

  @Override
  public String name() {
    return "color";
  }

  private Policy policy(int list) {
    Policy policy = policies.get(list);
    if (policy == null) {
      throw new IllegalArgumentException(
          "segment list " + Integer.toUnsignedString(list) + " has no colour; configure one");
    }
    return policy;
  }

  @Override
  public List<ExtendedCommunity> communities(int list) {
    return List.of(new ExtendedCommunity.Color(0, policy(list).color()));
  }

  @Override
  public List<PathAttribute> attributes(int list) {
    Prefix endpoint = policy(list).endpoint();
    byte[] value =
        ByteBuffer.allocate(IPV6_COMMUNITY_BYTES)
            .putShort((short) redirectType)
            .putLong(endpoint.high())
            .putLong(endpoint.low())
            .putShort((short) 0)
            .array();
    int flags = PathAttribute.OPTIONAL | PathAttribute.TRANSITIVE;
    return List.of(new PathAttribute.Unknown(flags, IPV6_EXTENDED_COMMUNITIES, value));
  }

  @Override
  public ListOrRefusal read(PathAttributes attributes) {
    ExtendedCommunity.Color color = attributes.color();
    Map<Prefix, Boolean> endpoints = new HashMap<>();
    for (PathAttribute each : attributes.all()) {
      if (each instanceof PathAttribute.Unknown one && one.code() == IPV6_EXTENDED_COMMUNITIES) {
        ByteBuffer value = ByteBuffer.wrap(one.value());
        while (value.remaining() >= IPV6_COMMUNITY_BYTES) {
          int type = value.getShort() & 0xffff;
          Prefix address = new Prefix(value.getLong(), value.getLong(), Prefix.MAX_LENGTH);
          value.getShort();
          if (type == redirectType) {
            endpoints.put(address, true);
          }
        }
      }
    }
    if (color == null || endpoints.isEmpty()) {
      return ListOrRefusal.refused(RuleRefusal.NAMES_NO_LIST);
    }
    if (endpoints.size() > 1) {
      return ListOrRefusal.refused(RuleRefusal.NAMES_SEVERAL_LISTS);
    }
    Policy named = new Policy(color.color(), endpoints.keySet().iterator().next());
    return policies.entrySet().stream()
        .filter(each -> Objects.equals(each.getValue(), named))
        .map(each -> ListOrRefusal.of(each.getKey()))
        .findFirst()
        .orElse(ListOrRefusal.refused(RuleRefusal.NAMES_NO_LIST));
  }
}
