/**
 * The second level, for long runs: each connection is a flow whose planes have fixed shares, which
 * the first level gives, and rates are max-min fair. {@link io.heddle.sim.flows.FairRates} is the
 * way in. One thread; nothing by chance but the hash of spines.
 */
@NullMarked
package io.heddle.sim.flows;

import org.jspecify.annotations.NullMarked;
