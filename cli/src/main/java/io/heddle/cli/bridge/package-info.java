/**
 * {@code heddle bridge}: runs a bridge, checks its configuration, and shows its status. In its
 * demo, hosts of two fabrics in network namespaces communicate across a bridge. Each host is a
 * thread in its own namespace.
 */
@NullMarked
package io.heddle.cli.bridge;

import org.jspecify.annotations.NullMarked;
