/** Demos of the bridge and a measurement of its latency, in network namespaces. */
@NullMarked
package io.heddle.tools.bridge;

import org.jspecify.annotations.NullMarked;
