package io.heddle.bgp.wire;

/**
 * Message of BGP-4 (RFC 4271 §4, RFC 2918).
 *
 * <pre>
 * marker 16 bytes, all ones | length 2, header included | type 1 | body
 * </pre>
 */
public sealed interface BgpMessage extends DecodeResult
    permits OpenMessage, UpdateMessage, NotificationMessage, KeepaliveMessage, RouteRefreshMessage {
  int HEADER_BYTES = 19;

  /** Maximum length of a message in bytes without RFC 8654. */
  int MAX_BYTES = 4096;

  /** Maximum length of a message in bytes with RFC 8654, except for OPEN and KEEPALIVE. */
  int MAX_EXTENDED_BYTES = 65535;
}
