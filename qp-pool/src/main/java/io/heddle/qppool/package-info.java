/**
 * Queue pairs of a connection, one or more per plane, each pinned to its plane's address: creation,
 * INIT to RTR to RTS, closing. A failed plane gets new ones; none is reused. Despite its name,
 * which comes from the product's design, the module keeps no spare queue pairs.
 *
 * <p>Control path: runs on the control thread of transport-core, its one user.
 */
@NullMarked
package io.heddle.qppool;

import org.jspecify.annotations.NullMarked;
