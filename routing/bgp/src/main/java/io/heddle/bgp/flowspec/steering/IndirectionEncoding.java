package io.heddle.bgp.flowspec.steering;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttributes;
import java.util.List;

/**
 * Encoding of a segment list by its id, as an indirection id
 * (draft-ietf-idr-flowspec-path-redirect, with the ID type of
 * draft-ll-idr-flowspec-redirect-sidlist).
 *
 * <pre>
 * 09 00 | flags 1 | ID type 1 | list 4
 * </pre>
 *
 * @param idType number of the ID type, which the draft leaves open
 */
public record IndirectionEncoding(int flags, int idType) implements SteeringEncoding {
  /**
   * Default of the ID type, which is a guess: the types up to 4 have other meanings in
   * draft-ietf-idr-flowspec-path-redirect.
   */
  public static final int DEFAULT_ID_TYPE = 5;

  public static final IndirectionEncoding DEFAULT = new IndirectionEncoding(0, DEFAULT_ID_TYPE);

  /**
   * @throws IllegalArgumentException if a number doesn't fit into its octet
   */
  public IndirectionEncoding {
    if ((flags & ~0xff) != 0 || (idType & ~0xff) != 0) {
      throw new IllegalArgumentException(
          "flags %s and ID type %s are one octet each".formatted(flags, idType));
    }
  }

  @Override
  public String name() {
    return "indirection-id";
  }

  @Override
  public List<ExtendedCommunity> communities(int list) {
    return List.of(new ExtendedCommunity.Redirect(flags, idType, list));
  }

  @Override
  public ListOrRefusal read(PathAttributes attributes) {
    ListOrRefusal found = ListOrRefusal.refused(RuleRefusal.NAMES_NO_LIST);
    for (ExtendedCommunity each : attributes.extendedCommunities()) {
      if (each instanceof ExtendedCommunity.Redirect redirect && redirect.idType() == idType) {
        if (found.refusal() == null && found.list() != redirect.id()) {
          return ListOrRefusal.refused(RuleRefusal.NAMES_SEVERAL_LISTS);
        }
        found = ListOrRefusal.of(redirect.id());
      }
    }
    return found;
  }
}
