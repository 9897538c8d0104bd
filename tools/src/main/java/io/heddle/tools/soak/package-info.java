/**
 * {@code heddle soak}: random messages over planes with faults, all derived from seeds. {@link
 * io.heddle.tools.soak.ChaosPlan} derives the faults of a seed. {@link
 * io.heddle.tools.soak.ChaosJudge} decides whether the outcome is correct. The command's thread
 * injects the faults.
 */
@NullMarked
package io.heddle.tools.soak;

import org.jspecify.annotations.NullMarked;
