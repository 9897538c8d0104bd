/**
 * Measurements of gateways and controllers that don't run in the demo's network: the solver
 * compared with all placements, rules and polls of one gateway, and a controller with a fleet of
 * simulated gateways. Each class creates its environment and removes it. The caller's thread waits
 * for the figures.
 */
@NullMarked
package io.heddle.tools.wan.figure;

import org.jspecify.annotations.NullMarked;
