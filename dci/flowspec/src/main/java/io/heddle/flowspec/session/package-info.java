/**
 * Rules on BGP sessions: a gateway's reception of its peers' announcements, and a controller's
 * announcements. Both listen to sessions of {@code io.heddle.bgp.session}, on the speaker's thread.
 */
@NullMarked
package io.heddle.flowspec.session;

import org.jspecify.annotations.NullMarked;
