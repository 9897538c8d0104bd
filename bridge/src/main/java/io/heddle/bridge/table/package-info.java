/** Hash tables of the data thread, which are bounded or immutable, and allocate nothing. */
@NullMarked
package io.heddle.bridge.table;

import org.jspecify.annotations.NullMarked;
