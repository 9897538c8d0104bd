/** Demos and latency measurement of the bridge, in network namespaces. */
@NullMarked
package io.heddle.tools.bridge;

import org.jspecify.annotations.NullMarked;
