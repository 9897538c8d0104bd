package io.heddle.flowspec.steering;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an announcement names a segment list. List ids are a gateway's own, so the gateway is named
 * beside it, by {@link SteeringAttributes}.
 */
public interface SteeringEncoding {
  /** For configurations and tables. */
  String name();

  /**
   * Communities that send traffic to a list.
   *
   * @throws IllegalArgumentException where this encoding has no words for the list
   */
  List<ExtendedCommunity> communities(int list);

  /** What has to be said outside of the extended communities; mostly nothing. */
  default List<PathAttribute> attributes(int list) {
    return List.of();
  }

  /** The list that an announcement names. */
  Named read(PathAttributes attributes);

  /**
   * A list, or why there is none.
   *
   * @param list 0 where there is none
   */
  record Named(int list, @Nullable RuleRefusal refusal) {
    static Named of(int list) {
      return new Named(list, null);
    }

    static Named refused(RuleRefusal why) {
      return new Named(0, why);
    }
  }
}
