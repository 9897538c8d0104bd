package io.heddle.routes;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A plane as the daemon knows it.
 *
 * @param key what the daemon calls it, at most 63 bytes of UTF-8: {@code colour:3}, {@code plane:a}
 * @param source this host's address on it; null while it has none
 * @param rateMbps of the local port; 0 where it isn't known
 * @param via who tells of its routes, for people
 */
public record PublishedPlane(String key, @Nullable InetAddress source, long rateMbps, String via) {}
