/**
 * Measurements of gateways and controllers beside the demo: the solver against all placements,
 * rules and polls of one gateway, and a controller with a fleet of simulated gateways. Each class
 * creates its environment and removes it; the caller's thread waits.
 */
@NullMarked
package io.heddle.tools.wan.figure;

import org.jspecify.annotations.NullMarked;
