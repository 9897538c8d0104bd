package io.heddle.roce.wire;

import io.heddle.verbs.Gid;

/**
 * End of a link between two queue pairs.
 *
 * @param port receive port; 0 for a missing address
 * @param sourcePort source port of the packets that this end sends; 0 for a standard device, which
 *     chooses any
 */
public record LinkEnd(Gid gid, int port, int sourcePort) {}
