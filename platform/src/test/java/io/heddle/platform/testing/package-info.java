/**
 * Load-aware time limits for every module's tests: {@link io.heddle.platform.testing.Deadline} for
 * a wait, {@link io.heddle.platform.testing.EndsWithin} for a whole test.
 */
@NullMarked
package io.heddle.platform.testing;

import org.jspecify.annotations.NullMarked;
