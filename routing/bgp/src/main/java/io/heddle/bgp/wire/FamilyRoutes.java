package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Routes of one address family other than unicast in an UPDATE.
 *
 * @param nextHop next hop of all announced routes; null if none is announced, or if the family has
 *     no next hops
 */
public record FamilyRoutes<R>(
    FamilyCodec<R> codec, List<R> withdrawn, List<R> announced, @Nullable NextHop nextHop) {
  public FamilyRoutes {
    withdrawn = List.copyOf(withdrawn);
    announced = List.copyOf(announced);
  }

  public static <R> FamilyRoutes<R> withdraw(FamilyCodec<R> codec, List<R> routes) {
    return new FamilyRoutes<>(codec, routes, List.of(), null);
  }

  public static <R> FamilyRoutes<R> announce(
      FamilyCodec<R> codec, List<R> routes, @Nullable NextHop nextHop) {
    return new FamilyRoutes<>(codec, List.of(), routes, nextHop);
  }

  public AddressFamily family() {
    return codec.family();
  }

  public boolean isEmpty() {
    return withdrawn.isEmpty() && announced.isEmpty();
  }

  /** Returns these routes, all as withdrawn ones. */
  FamilyRoutes<R> allWithdrawn() {
    if (announced.isEmpty()) {
      return this;
    }
    List<R> all = new ArrayList<>(withdrawn);
    all.addAll(announced);
    return withdraw(codec, all);
  }
}
