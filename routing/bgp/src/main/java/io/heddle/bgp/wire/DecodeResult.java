package io.heddle.bgp.wire;

/** Result of decoding: a message, or the reason why the session must end. */
public sealed interface DecodeResult permits BgpMessage, MessageFault {}
