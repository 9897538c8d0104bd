/**
 * Bitmaps and windows that turn arrival in any order into completion in order. Used by
 * transport-core's receiver for chunks, on the thread that drives the communicator. Owns no thread.
 */
@NullMarked
package io.heddle.reorder;

import org.jspecify.annotations.NullMarked;
