package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;

/**
 * A route as one peer tells it.
 *
 * @param plane key of its plane; empty where it has none
 * @param cell what it says of the plane's weight ({@link io.heddle.routes.RouteCell})
 */
public record Route(
    Prefix prefix, String peer, String plane, PathAttributes attributes, int cell) {}
