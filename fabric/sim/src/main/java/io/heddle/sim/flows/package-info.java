/**
 * The second level of the simulation, for long runs. Each connection is a flow with fixed plane
 * shares, which the first level determines, and the rates are max-min fair. {@link
 * io.heddle.sim.flows.FairRates} is the entry point. Runs on one thread. Nothing is random except
 * the hash that selects spines.
 */
@NullMarked
package io.heddle.sim.flows;

import org.jspecify.annotations.NullMarked;
