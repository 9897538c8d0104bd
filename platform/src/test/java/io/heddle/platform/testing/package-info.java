/**
 * Limits of time for every module's tests, which a busy machine stretches: {@link
 * io.heddle.platform.testing.Patience} for a wait, {@link io.heddle.platform.testing.EndsWithin}
 * for a whole test.
 */
@NullMarked
package io.heddle.platform.testing;

import org.jspecify.annotations.NullMarked;
