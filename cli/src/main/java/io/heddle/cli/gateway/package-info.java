/** The command {@code heddle gateway}: run, check, show, steer, release, remove. */
@NullMarked
package io.heddle.cli.gateway;

import org.jspecify.annotations.NullMarked;
