/**
 * Routes file: the planes and weights by which a destination is reached. The route daemon publishes
 * it ({@link io.heddle.routes.RoutePublisher}, its one writer, on the daemon's own thread). Every
 * plugin process of the host maps it and reads without a lock ({@link
 * io.heddle.routes.RouteReader}, on the transport's control threads).
 *
 * <p>The table is keyed by prefix. Each entry has one cell per plane with that plane's route for
 * exactly this prefix; an empty cell leaves the plane to the next shorter prefix. So the longest
 * match is found plane by plane, a host route of one plane doesn't hide the other planes'
 * aggregates. A change of a route is a change of one cell, whatever it covers.
 */
@NullMarked
package io.heddle.routes;

import org.jspecify.annotations.NullMarked;
