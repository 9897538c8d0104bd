/** Rates of flows by queue pair, and which of them are elephants. Runs on its caller's thread. */
@NullMarked
package io.heddle.gateway.flow;

import org.jspecify.annotations.NullMarked;
