/**
 * Failover: takes a connection off a plane that fails, and back onto it, as docs/failover.md
 * specifies.
 *
 * <p>Runs on the control thread, with the communicator's baton where it touches the data path. The
 * connection is a {@link io.heddle.transport.failover.FailoverConnection} here, and its peer a
 * {@link io.heddle.transport.failover.PeerChannel}.
 */
@NullMarked
package io.heddle.transport.failover;

import org.jspecify.annotations.NullMarked;
