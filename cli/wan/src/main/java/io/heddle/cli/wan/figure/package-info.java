/**
 * What is measured of gateways and controllers beside the demo: the solver against all placements,
 * rules and polls of one gateway, and a controller with a fleet of simulated gateways. Each class
 * makes what it needs and takes it away; the caller's thread waits.
 */
@NullMarked
package io.heddle.cli.wan.figure;

import org.jspecify.annotations.NullMarked;
