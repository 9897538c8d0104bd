/**
 * Queue pairs of a connection, one or more for each plane, each bound to an address of its plane:
 * creation, the transitions INIT to RTR to RTS, closing. A plane that failed gets new queue pairs;
 * none is reused. Despite its name, which comes from the product's design, the module keeps no
 * spare queue pairs.
 *
 * <p>For the control path: runs on the control thread of transport-core, the only module that uses
 * it.
 */
@NullMarked
package io.heddle.qppool;

import org.jspecify.annotations.NullMarked;
