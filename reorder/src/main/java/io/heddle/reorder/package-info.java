/**
 * Bitmaps and windows that turn arrival in any order into completion in order. Owned by the thread
 * that drives the communicator.
 */
@NullMarked
package io.heddle.reorder;

import org.jspecify.annotations.NullMarked;
