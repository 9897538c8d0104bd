package io.heddle.routes;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Plane as the daemon knows it.
 *
 * @param key the daemon's name for it, at most 63 bytes of UTF-8: {@code colour:3}, {@code plane:a}
 * @param source this host's address on it; null while there is none
 * @param rateMbps of the local port; 0 if unknown
 * @param via source of its routes, for display
 */
public record PublishedPlane(String key, @Nullable InetAddress source, long rateMbps, String via) {}
