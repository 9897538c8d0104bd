/**
 * Sessions with peers: connections, negotiation, liveness, retries.
 *
 * <p>A {@link io.heddle.bgp.session.BgpSpeaker} owns the loop's thread and the listening sockets. A
 * {@link io.heddle.bgp.session.PeerSession} serves one peer. The rules of RFC 4271 §8 are in {@code
 * SessionFsm}, which knows neither sockets nor threads, so that tests control its time. The routing
 * table listens through {@link io.heddle.bgp.session.SessionListener}, on the loop's thread.
 */
@NullMarked
package io.heddle.bgp.session;

import org.jspecify.annotations.NullMarked;
