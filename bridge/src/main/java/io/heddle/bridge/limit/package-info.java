/**
 * Rate limits of leaving packets: GCRA by group and by link, queues in one bounded pool, and a
 * timer wheel. All belongs to the data thread; only a {@code LimitedFlow} is created by the control
 * thread.
 */
@NullMarked
package io.heddle.bridge.limit;

import org.jspecify.annotations.NullMarked;
