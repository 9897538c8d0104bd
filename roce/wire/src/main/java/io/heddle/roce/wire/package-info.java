/**
 * Wire formats of RoCEv2: packets of the reliable connection as bytes at an address, their
 * invariant CRC, sizes and sequence numbers, and the queue pair parameters that soft devices
 * exchange. Used by roce/transport and the soft device.
 *
 * <p>Threads: none of its own. A {@code FlowChecksum} and a {@code IcrcWriter} belong to the holder
 * of the device's progress lock; all else is static or immutable.
 *
 * <p>Memory: packets lie in the caller's memory, given by address. Nothing is allocated per packet.
 */
@NullMarked
package io.heddle.roce.wire;

import org.jspecify.annotations.NullMarked;
