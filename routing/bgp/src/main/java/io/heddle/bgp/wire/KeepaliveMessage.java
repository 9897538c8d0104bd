package io.heddle.bgp.wire;

/** Still there; the header alone. */
public record KeepaliveMessage() implements BgpMessage {
  public static final KeepaliveMessage INSTANCE = new KeepaliveMessage();
}
