/**
 * Switches' choice among equal links, as pure functions: the fields and algorithms of a switch's
 * hash, the 83-bit key, the group's formula, several successive tiers, and random choice for
 * comparison. Used by {@code heddle paths}, the simulator and the lab's checks.
 *
 * <p>No sockets, threads or clock; everything is immutable unless its own comment says otherwise.
 */
@NullMarked
package io.heddle.fabric.model;

import org.jspecify.annotations.NullMarked;
