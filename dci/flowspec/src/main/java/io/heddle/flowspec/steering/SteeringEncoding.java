package io.heddle.flowspec.steering;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encoding of a segment list in an announcement. List ids are local to a gateway, so {@link
 * SteeringAttributes} names the gateway too.
 */
public interface SteeringEncoding {
  /** Returns the name in configurations and tables. */
  String name();

  /**
   * Returns the communities that send traffic to a list.
   *
   * @throws IllegalArgumentException if this encoding can't express the list
   */
  List<ExtendedCommunity> communities(int list);

  /** Returns attributes beside the extended communities; mostly none. */
  default List<PathAttribute> attributes(int list) {
    return List.of();
  }

  /** Returns the list that an announcement names. */
  NamedList read(PathAttributes attributes);

  /**
   * A list, or the reason why there is none.
   *
   * @param list 0 if there is none
   */
  record NamedList(int list, @Nullable RuleRefusal refusal) {
    static NamedList of(int list) {
      return new NamedList(list, null);
    }

    static NamedList refused(RuleRefusal why) {
      return new NamedList(0, why);
    }
  }
}
