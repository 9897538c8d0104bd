/**
 * The devices that NCCL sees: their planes, registered memory and connections, how they are found,
 * and what watches them.
 *
 * <p>The watchers run on the control thread, on {@code heddle-routes} and on {@code
 * heddle-addresses}. They see a connection as a {@link io.heddle.transport.device.DeviceConnection}
 * and know nothing of how it works.
 */
@NullMarked
package io.heddle.transport.device;

import org.jspecify.annotations.NullMarked;
