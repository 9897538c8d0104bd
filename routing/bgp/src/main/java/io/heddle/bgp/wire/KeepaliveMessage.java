package io.heddle.bgp.wire;

/** KEEPALIVE: the header alone. */
public record KeepaliveMessage() implements BgpMessage {
  public static final KeepaliveMessage INSTANCE = new KeepaliveMessage();
}
