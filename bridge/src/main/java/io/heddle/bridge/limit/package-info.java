/**
 * Rate limits of forwarded packets: GCRA by group and by link, queues in one bounded pool, and a
 * timer wheel. All state belongs to the data thread, except that flows are created on the control
 * path.
 */
@NullMarked
package io.heddle.bridge.limit;

import org.jspecify.annotations.NullMarked;
