/**
 * Routing table: the routes of each peer ({@link io.heddle.bgpstub.rib.AdjRibIn}), the choice of
 * the route that counts for a plane, and that plane's cell in the routes file ({@link
 * io.heddle.bgpstub.rib.Rib}). The routes file is the Loc-RIB; there is no second table of best
 * routes.
 *
 * <p>Everything runs on the speaker's thread. Readers do the longest match, plane by plane, so a
 * changed route is one cell, whatever it covers. A host route with path bandwidth 0 takes its plane
 * out of the covering route's next hops for that host. The withdrawal of the host route undoes
 * this, without computing a second route.
 */
@NullMarked
package io.heddle.bgpstub.rib;

import org.jspecify.annotations.NullMarked;
