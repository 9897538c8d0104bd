/**
 * How a fabric's switches choose among equal links, as pure functions: the fields and algorithms of
 * a switch's hash, the 83-bit key, the group's formula, several tiers behind one another, and what
 * luck would do. Shared by {@code heddle paths}, the simulator and the lab's checks.
 *
 * <p>No sockets, no threads, no clock; everything is immutable unless its page says otherwise.
 */
@NullMarked
package io.heddle.fabric.model;

import org.jspecify.annotations.NullMarked;
