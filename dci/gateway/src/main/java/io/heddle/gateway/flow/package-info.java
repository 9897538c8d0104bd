/** Rates of flows by queue pair, and detection of elephants. Runs on its caller's thread. */
@NullMarked
package io.heddle.gateway.flow;

import org.jspecify.annotations.NullMarked;
