package io.heddle.bgp.wire;

/**
 * Types of extended communities that drafts leave open or may change. Each value is the whole
 * 16-bit type with bit 0x4000 (non-transitive) clear.
 *
 * @param pathBandwidth FARE's path bandwidth (draft-ietf-idr-fare); also accepted with bit 0x4000
 * @param unreachable the unreachability announcement (draft-krierhorn-idr-upa)
 * @param otherUnreachable a second type of unreachability announcement (draft-wang-idr-bgp-upa), −1
 *     for none
 * @param fibSuppress FIB-Suppress (draft-xu-idr-fare-in-mpson)
 * @param redirect target of a Flowspec rule's traffic (draft-ietf-idr-flowspec-path-redirect), −1
 *     for none
 */
public record CodePoints(
    int pathBandwidth, int unreachable, int otherUnreachable, int fibSuppress, int redirect) {
  public static final int NON_TRANSITIVE = 0x4000;
  public static final CodePoints DEFAULT = new CodePoints(0x0180, 0x0309, -1, 0x0081, 0x0900);

  /**
   * @throws IllegalArgumentException if two types are equal, or one isn't a 16-bit type with bit
   *     0x4000 clear
   */
  public CodePoints {
    int[] all = {pathBandwidth, unreachable, otherUnreachable, fibSuppress, redirect};
    for (int i = 0; i < all.length; i++) {
      boolean absent = all[i] == -1 && (i == 2 || i == 4);
      if (!absent && (all[i] < 0 || all[i] > 0xffff || (all[i] & NON_TRANSITIVE) != 0)) {
        throw new IllegalArgumentException(
            "code point 0x%x isn't a 16-bit type without bit 0x4000".formatted(all[i]));
      }
      for (int k = 0; k < i; k++) {
        if (all[i] == all[k] && !absent) {
          throw new IllegalArgumentException(
              "code point 0x%04x has two meanings".formatted(all[i]));
        }
      }
    }
  }
}
