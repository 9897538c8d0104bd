package io.heddle.softdevice.queue;

import io.heddle.softdevice.io.DeviceSockets;

/**
 * Parts of an open device that its queue pairs use.
 *
 * @param monitor monitor of the control path, which is held before the progress lock
 * @param arePeersStandard whether other soft devices are treated as standard ones
 */
record DeviceParts(
    Object monitor,
    Engine engine,
    DeviceSockets sockets,
    PeerGroups peerGroups,
    boolean arePeersStandard) {}
