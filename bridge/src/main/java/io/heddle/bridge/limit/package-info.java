/**
 * How fast packets may leave: GCRA by group and by link, queues in one bounded pool, and a timer
 * wheel. The data thread's alone; only a {@code LimitedFlow} is made by the control thread.
 */
@NullMarked
package io.heddle.bridge.limit;

import org.jspecify.annotations.NullMarked;
