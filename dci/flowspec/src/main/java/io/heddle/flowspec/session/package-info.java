/**
 * Rules on BGP sessions: what a gateway does with its peers' announcements, and what a controller
 * announces. Both listen to sessions of {@code io.heddle.bgp.session}, on the speaker's thread.
 */
@NullMarked
package io.heddle.flowspec.session;

import org.jspecify.annotations.NullMarked;
