/**
 * Models of how switches select among equal links, as pure functions: the fields and algorithms of
 * a switch's hash, the 83-bit key, the group's formula, several successive tiers, and random
 * selection for comparison. {@code heddle paths}, the simulator and the lab's checks use them.
 *
 * <p>The package uses no sockets, threads or clock. Everything is immutable unless its own comment
 * says otherwise.
 */
@NullMarked
package io.heddle.fabric.model;

import org.jspecify.annotations.NullMarked;
