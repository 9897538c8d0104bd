/**
 * NCCL's calls to transport-core: upcall entry points, object tables, error translation. The only
 * module that sees NCCL's types; its other half is native/.
 *
 * <p>The shim calls {@link io.heddle.plugin.PluginEntry} once, which fills the table of calls with
 * {@code JavaCalls}; {@code NcclDevices} opens the transport. All code runs on NCCL's threads; the
 * progress thread and the service thread of a communicator may call at the same time. The only
 * other thread is {@code heddle-link}, which links system calls at the start.
 */
@NullMarked
package io.heddle.plugin;

import org.jspecify.annotations.NullMarked;
