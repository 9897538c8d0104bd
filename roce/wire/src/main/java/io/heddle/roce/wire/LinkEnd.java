package io.heddle.roce.wire;

import io.heddle.verbs.Gid;

/**
 * An end of a link between two queue pairs.
 *
 * @param port where it receives; 0 where it isn't there
 * @param sourcePort where its packets come from; 0 for a standard device, which chooses any
 */
public record LinkEnd(Gid gid, int port, int sourcePort) {}
