package io.heddle.bgp.wire;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Codec of one address family's routes. A product that speaks a family other than unicast supplies
 * a codec, and {@link Families} passes it to the session. A codec has no state.
 *
 * @param <R> a route, as a value; two values are equal if they identify the same route
 */
public interface FamilyCodec<R> {
  /** Receiver of decoded routes. */
  interface Sink<R> {
    void route(R route);

    /**
     * Receives a route whose end is known but whose content is malformed; the route is treated as
     * withdrawn.
     */
    void malformed(R route, String why);
  }

  AddressFamily family();

  /**
   * Returns whether routes have a next hop, of 16 or 32 bytes. Other families send an empty next
   * hop, and ignore a received one (RFC 8955 §4).
   */
  boolean hasNextHop();

  /**
   * Reads the routes between the buffer's position and its limit, in network order.
   *
   * @return reason why the bytes can't be split into routes, which ends the session; null if they
   *     can
   */
  @Nullable String decode(ByteBuffer routes, Sink<R> sink);

  /** Returns the encoded bytes of one route, which the caller appends to those of other routes. */
  byte[] encode(R route);
}
