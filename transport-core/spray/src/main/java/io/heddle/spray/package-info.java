/**
 * Spray policies: the choice of the plane that carries the next chunk. A policy is chosen once per
 * process. It decides over an immutable snapshot of plane weights and the loads of one connection,
 * on the thread that drives the connection, without allocating.
 */
@NullMarked
package io.heddle.spray;

import org.jspecify.annotations.NullMarked;
