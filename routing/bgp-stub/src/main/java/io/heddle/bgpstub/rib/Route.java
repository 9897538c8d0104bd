package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;

/**
 * A route as received from one peer.
 *
 * @param plane key of its plane; empty if it has none
 * @param cell its plane's weight ({@link io.heddle.routes.RouteCell})
 */
public record Route(
    Prefix prefix, String peer, String plane, PathAttributes attributes, int cell) {}
