/**
 * Bridges over libibverbs, and the hosts that communicate over them. Each is a separate process.
 */
@NullMarked
package io.heddle.systemtests.bridge;

import org.jspecify.annotations.NullMarked;
