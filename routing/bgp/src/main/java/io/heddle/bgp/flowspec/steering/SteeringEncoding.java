package io.heddle.bgp.flowspec.steering;

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
  /** Returns the encoding's name in configurations and tables. */
  String name();

  /**
   * Returns the extended communities that redirect traffic to a list.
   *
   * @throws IllegalArgumentException if this encoding can't express the list
   */
  List<ExtendedCommunity> communities(int list);

  /**
   * Returns the path attributes that are needed in addition to the extended communities; usually
   * none.
   */
  default List<PathAttribute> attributes(int list) {
    return List.of();
  }

  /** Returns the list to which an announcement redirects, or the reason for refusing it. */
  ListOrRefusal read(PathAttributes attributes);

  /**
   * List of an announcement, or the reason for refusing it.
   *
   * @param list id of the list; 0 if there is none
   * @param refusal reason for the refusal; null if there is a list
   */
  record ListOrRefusal(int list, @Nullable RuleRefusal refusal) {
    static ListOrRefusal of(int list) {
      return new ListOrRefusal(list, null);
    }

    static ListOrRefusal refused(RuleRefusal why) {
      return new ListOrRefusal(0, why);
    }
  }
}
