/**
 * Routes file: the planes and weights by which a destination is reached. The route daemon publishes
 * the file ({@link io.heddle.routes.RoutePublisher}, the only writer, on the daemon's own thread).
 * Every plugin process of the host maps the file and reads it without a lock ({@link
 * io.heddle.routes.RouteReader}, on the transport's control threads).
 *
 * <p>The table is keyed by prefix. Each entry has one cell per plane with that plane's route for
 * exactly this prefix; if a cell is empty, the next shorter prefix decides for that plane. So each
 * plane has its own longest match, and a host route of one plane doesn't hide the other planes'
 * aggregates. A changed route changes only one cell, even if its prefix covers others.
 */
@NullMarked
package io.heddle.routes;

import org.jspecify.annotations.NullMarked;
