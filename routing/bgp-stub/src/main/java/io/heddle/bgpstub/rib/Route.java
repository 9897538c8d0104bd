package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;

/**
 * Route as received from one peer.
 *
 * @param plane key of the route's plane; empty if it has none
 * @param cell the plane's weight by this route, and its reason ({@link io.heddle.routes.RouteCell})
 */
public record Route(
    Prefix prefix, String peer, String plane, PathAttributes attributes, int cell) {}
