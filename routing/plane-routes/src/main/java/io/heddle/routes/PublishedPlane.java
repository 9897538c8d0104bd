package io.heddle.routes;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Plane as the route daemon publishes it.
 *
 * @param key the daemon's name for the plane, at most 63 bytes of UTF-8: {@code colour:3}, {@code
 *     plane:a}
 * @param source this host's address on the plane; null while there is none
 * @param rateMbps rate of the local port in Mbit/s; 0 if unknown
 * @param via BGP peer, and interface towards it, from which the plane's routes come; for display
 */
public record PublishedPlane(String key, @Nullable InetAddress source, long rateMbps, String via) {}
