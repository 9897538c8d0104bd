/**
 * Devices that NCCL sees: their planes, registered memory and connections, the search for them, and
 * their watchers.
 *
 * <p>The watchers run on the control thread, on {@code heddle-routes} and on {@code
 * heddle-addresses}. They see a connection as a {@link io.heddle.transport.device.DeviceConnection}
 * and don't depend on how it works.
 */
@NullMarked
package io.heddle.transport.device;

import org.jspecify.annotations.NullMarked;
