/**
 * Controller's end of telemetry: a subscription to each gateway or router, which is started again
 * until it is closed. Listeners are called on gRPC's threads, one at a time for each client.
 */
@NullMarked
package io.heddle.telemetry.client;

import org.jspecify.annotations.NullMarked;
