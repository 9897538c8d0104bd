/**
 * {@code heddle paths}: links of a fabric that flows take. {@code measure} finds routers by hop
 * limits, {@code fit} tests whether the hash is linear, {@code pick} selects ports that spread
 * evenly, {@code predict} uses a model, {@code check} compares all of them with a lab's counters.
 *
 * <p>Runs on the caller's thread; the sockets of a measurement are closed with its process.
 */
@NullMarked
package io.heddle.cli.paths;

import org.jspecify.annotations.NullMarked;
