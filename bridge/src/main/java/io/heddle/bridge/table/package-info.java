/** Building block of the data thread's hash tables, which are bounded and allocate nothing. */
@NullMarked
package io.heddle.bridge.table;

import org.jspecify.annotations.NullMarked;
