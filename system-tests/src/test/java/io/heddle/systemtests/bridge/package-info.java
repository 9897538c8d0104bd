/** Bridges over libibverbs, and the hosts that talk over them, each in a process of its own. */
@NullMarked
package io.heddle.systemtests.bridge;

import org.jspecify.annotations.NullMarked;
