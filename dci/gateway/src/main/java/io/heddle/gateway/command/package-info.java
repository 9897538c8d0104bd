/** The command {@code heddle gateway}: run, check, show, steer, release, remove. */
@NullMarked
package io.heddle.gateway.command;

import org.jspecify.annotations.NullMarked;
