/**
 * Programs in the role of hosts that communicate over a bridge. Each host is a separate process.
 */
@NullMarked
package io.heddle.systemtests.bridge;

import org.jspecify.annotations.NullMarked;
