/**
 * Network part of the controller's configuration: telemetry sources, BGP peers, links, and the
 * links on the path of each segment list.
 */
@NullMarked
package io.heddle.controller.network;

import org.jspecify.annotations.NullMarked;
