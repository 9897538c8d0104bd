/**
 * gNMI as it is spoken here: the two methods, the paths that can be subscribed to, reports to
 * notifications and back. Pure functions; no thread.
 *
 * @see <a
 *     href="https://github.com/openconfig/reference/blob/master/rpc/gnmi/gnmi-specification.md">the
 *     specification, 0.8.0</a>
 */
@NullMarked
package io.heddle.telemetry.gnmi;

import org.jspecify.annotations.NullMarked;
