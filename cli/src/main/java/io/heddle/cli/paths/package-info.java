/**
 * {@code heddle paths}: finds the links of a fabric that flows take. {@code measure} finds routers
 * by hop limits, {@code fit} tests whether the hash is linear, {@code pick} selects ports that
 * spread evenly, {@code predict} uses a model. {@code check}, in the module {@code tools}, compares
 * all of these with a lab's counters.
 *
 * <p>Runs on the caller's thread.
 */
@NullMarked
package io.heddle.cli.paths;

import org.jspecify.annotations.NullMarked;
