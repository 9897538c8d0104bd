package io.heddle.bgp.wire;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Routes of one address family to bytes and back. A product that speaks a family beside IPv6
 * unicast brings one; {@link Families} names it to the session. Stateless.
 *
 * @param <R> a route: a value, whose equality says which one it is
 */
public interface FamilyCodec<R> {
  /** Takes what was read. */
  interface Sink<R> {
    void route(R route);

    /** This one's end is known, but what is in it can't be: it counts as withdrawn. */
    void malformed(R route, String why);
  }

  AddressFamily family();

  /**
   * Whether routes have a next hop, of 16 or 32 bytes. Those of others are sent with one of no
   * bytes, and any that comes is passed over (RFC 8955 §4).
   */
  boolean hasNextHop();

  /**
   * Reads the routes between the buffer's position and its limit, in network order.
   *
   * @return why they can't be told from each other, which ends the session; null where they can
   */
  @Nullable String decode(ByteBuffer routes, Sink<R> sink);

  /** One route as it goes behind others. */
  byte[] encode(R route);
}
