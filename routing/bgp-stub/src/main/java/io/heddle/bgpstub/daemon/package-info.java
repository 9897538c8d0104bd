/**
 * Route daemon: its configuration, and the class that connects BGP sessions, routes and the routes
 * file. {@code heddle bgp} runs it; tests embed it.
 *
 * <p>All state belongs to the BGP speaker's thread; {@link io.heddle.bgpstub.daemon.BgpDaemon}
 * answers other threads with snapshots.
 */
@NullMarked
package io.heddle.bgpstub.daemon;

import org.jspecify.annotations.NullMarked;
