/**
 * {@code heddle paths}: which links of a fabric flows take. {@code measure} finds routers by hop
 * limits, {@code fit} looks whether the hash is linear, {@code pick} chooses ports that spread
 * evenly, {@code predict} goes by a model, {@code check} holds all of them against a lab's
 * counters.
 *
 * <p>Runs on its caller's thread; a measurement's sockets go with its process.
 */
@NullMarked
package io.heddle.cli.paths;

import org.jspecify.annotations.NullMarked;
