/**
 * The second level, for long runs: each connection is a flow with fixed plane shares from the first
 * level, and rates are max-min fair. {@link io.heddle.sim.flows.FairRates} is the entry point. One
 * thread; only the hash of spines is random.
 */
@NullMarked
package io.heddle.sim.flows;

import org.jspecify.annotations.NullMarked;
