/** Queue pairs of a connection, one per plane: creation, state changes, closing. Control path. */
@NullMarked
package io.heddle.qppool;

import org.jspecify.annotations.NullMarked;
