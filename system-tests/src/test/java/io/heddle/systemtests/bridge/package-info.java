/**
 * Bridges over libibverbs, and the hosts that communicate over them, each in a separate process.
 */
@NullMarked
package io.heddle.systemtests.bridge;

import org.jspecify.annotations.NullMarked;
