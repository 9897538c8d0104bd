/**
 * {@code heddle bridge}: runs a bridge, checks its configuration, shows its status, and {@code
 * demo}: hosts of two fabrics in network namespaces that talk across one. A host is a thread in its
 * own namespace.
 */
@NullMarked
package io.heddle.cli.bridge;

import org.jspecify.annotations.NullMarked;
