/**
 * Bookkeeping of chunks that arrive in any order and complete in order. The receiver of
 * transport-core uses it on the thread that drives the communicator; this module has no thread of
 * its own.
 */
@NullMarked
package io.heddle.reorder;

import org.jspecify.annotations.NullMarked;
