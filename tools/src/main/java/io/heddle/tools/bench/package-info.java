/**
 * {@code heddle bench}: runs every measurement of the project by the commands that users have for
 * them, and reads their JSON. {@link io.heddle.tools.bench.Targets} contains the targets with which
 * the figures are compared. Results are recorded and drawn. Measures nothing itself. Runs on one
 * thread.
 */
@NullMarked
package io.heddle.tools.bench;

import org.jspecify.annotations.NullMarked;
