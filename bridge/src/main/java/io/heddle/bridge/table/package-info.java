/** Building block of the data thread's tables: bounded, found by hash, without allocation. */
@NullMarked
package io.heddle.bridge.table;

import org.jspecify.annotations.NullMarked;
