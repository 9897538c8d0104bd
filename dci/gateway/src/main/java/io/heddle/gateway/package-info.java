/**
 * The gateway between data centre and WAN, an SRv6 policy headend that knows queue pairs: it gives
 * the data plane what the configuration says, watches flows and links, and answers questions.
 * {@code config} reads the configuration, {@code flow} finds elephants, {@code probe} measures
 * lists, {@code command} is {@code heddle gateway}.
 *
 * <p>{@code heddle-gateway} looks five times a second; orders come from the socket's threads and
 * wait for it. When the process ends, the data plane works on.
 */
@NullMarked
package io.heddle.gateway;

import org.jspecify.annotations.NullMarked;
