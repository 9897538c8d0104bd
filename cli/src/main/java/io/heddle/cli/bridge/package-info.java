/**
 * {@code heddle bridge}: runs a bridge, checks its configuration, shows its status, sends it
 * orders, and tests with datagrams whether groups flow across it.
 */
@NullMarked
package io.heddle.cli.bridge;

import org.jspecify.annotations.NullMarked;
