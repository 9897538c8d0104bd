/**
 * The gateway between data centre and WAN: an SRv6 policy headend that knows queue pairs. It
 * configures the data plane, watches flows and links, and answers queries. {@code config} reads the
 * configuration, {@code flow} finds elephants, {@code probe} measures lists, {@code command} is
 * {@code heddle gateway}.
 *
 * <p>The thread {@code heddle-gateway} polls five times per second; orders come from the control
 * socket's threads and wait for it. When the process ends, the data plane works on.
 */
@NullMarked
package io.heddle.gateway;

import org.jspecify.annotations.NullMarked;
