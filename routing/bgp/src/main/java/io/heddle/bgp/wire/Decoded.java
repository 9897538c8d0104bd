package io.heddle.bgp.wire;

/** What a run of bytes turned out to be: a message, or the reason why the session must end. */
public sealed interface Decoded permits BgpMessage, MessageFault {}
