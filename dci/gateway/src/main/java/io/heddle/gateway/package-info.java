/**
 * Gateway between data centre and WAN: an SRv6 policy headend that can steer single queue pairs. It
 * configures the data plane, watches flows and links, and answers queries. {@code config} reads the
 * configuration, {@code dataplane} forwards by a BPF program, {@code route} has the kernel's SRv6
 * routes, {@code flow} finds elephants, {@code probe} measures segment lists, {@code peer} has the
 * sessions with controllers, and {@code observe} is for routers that only report telemetry.
 *
 * <p>The thread {@code heddle-gateway} polls five times per second; orders come from the control
 * socket's threads and wait while a poll runs. When the process ends, the data plane keeps
 * forwarding.
 */
@NullMarked
package io.heddle.gateway;

import org.jspecify.annotations.NullMarked;
