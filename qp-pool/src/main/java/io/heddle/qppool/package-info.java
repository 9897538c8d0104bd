/**
 * The queue pairs of a connection, one or more per plane, each pinned to its plane's address:
 * creation, INIT to RTR to RTS, closing. A failed plane gets fresh ones; none is used twice. There
 * is no store of spare ones, in spite of the name, which the product's design gives.
 *
 * <p>Control path: runs on the control thread of transport-core, its one user.
 */
@NullMarked
package io.heddle.qppool;

import org.jspecify.annotations.NullMarked;
