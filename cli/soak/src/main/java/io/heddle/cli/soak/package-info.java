/**
 * {@code heddle soak}: random messages over planes that are cut, lossy, late and stopped, all by
 * seeds. {@link io.heddle.cli.soak.ChaosPlan} says what a seed does, {@link
 * io.heddle.cli.soak.ChaosJudge} what may come of it. A setting's events run on the command's
 * thread.
 */
@NullMarked
package io.heddle.cli.soak;

import org.jspecify.annotations.NullMarked;
