/**
 * gNMI subset: the two methods, the paths that can be subscribed to, and conversion of reports to
 * and from notifications. The package has only pure functions, and no thread.
 *
 * @see <a
 *     href="https://github.com/openconfig/reference/blob/master/rpc/gnmi/gnmi-specification.md">the
 *     specification, 0.8.0</a>
 */
@NullMarked
package io.heddle.telemetry.gnmi;

import org.jspecify.annotations.NullMarked;
