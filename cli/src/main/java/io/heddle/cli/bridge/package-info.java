/**
 * {@code heddle bridge}: runs a bridge, checks its configuration, shows its status, sends it
 * orders, and tests with datagrams whether it forwards groups.
 */
@NullMarked
package io.heddle.cli.bridge;

import org.jspecify.annotations.NullMarked;
