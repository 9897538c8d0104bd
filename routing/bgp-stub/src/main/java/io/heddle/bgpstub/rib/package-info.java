/**
 * Routing table: the routes of each peer ({@link io.heddle.bgpstub.rib.AdjRibIn}), the choice of
 * the best route of each plane, and its cell in the routes file ({@link
 * io.heddle.bgpstub.rib.Rib}). A cell has a plane's weight for a prefix. The routes file is the
 * Loc-RIB; there is no second table of best routes.
 *
 * <p>Everything runs on the BGP speaker's thread. Readers of the file find the longest match for
 * each plane. So a changed route changes only one cell, even if its prefix covers others. A host
 * route with path bandwidth 0 excludes its plane for that host, although a covering route includes
 * the plane. The withdrawal of the host route undoes this without any other change.
 */
@NullMarked
package io.heddle.bgpstub.rib;

import org.jspecify.annotations.NullMarked;
