/**
 * From routes to weights: what each peer said ({@link io.heddle.bgpstub.rib.AdjRibIn}), which of it
 * counts for a plane, and what that plane's cell in the routes file says ({@link
 * io.heddle.bgpstub.rib.Rib}). There is no second table of best routes: the routes file is it.
 *
 * <p>Everything runs on the speaker's thread. The longest match is the readers' business, plane by
 * plane, so that a changed route is one cell however much it covers: a host route with path
 * bandwidth 0 takes its plane out of the covering route's next hops for that host, and its
 * withdrawal undoes that, without a second route being computed.
 */
@NullMarked
package io.heddle.bgpstub.rib;

import org.jspecify.annotations.NullMarked;
