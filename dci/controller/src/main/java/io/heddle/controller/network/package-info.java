/**
 * The controller's network configuration: telemetry sources, BGP peers, links, and the links under
 * each segment list.
 */
@NullMarked
package io.heddle.controller.network;

import org.jspecify.annotations.NullMarked;
