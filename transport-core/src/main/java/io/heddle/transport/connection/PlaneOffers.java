package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.NamespaceId;
import io.heddle.transport.control.PlaneDigest;
import io.heddle.transport.device.NetDevice;
import java.util.Arrays;
import java.util.List;

/** Planes that an end offers, and the log lines about the other end's planes. */
final class PlaneOffers {
  private PlaneOffers() {}

  static ControlMessage.PlaneList of(NetDevice device, ConnectionTerms terms) {
    return new ControlMessage.PlaneList(
        terms.hostName(),
        NamespaceId.ID,
        terms.queuePairsPerPlane(),
        device.planes().stream()
            .map(plane ->
                new ControlMessage.PlaneOffer(
                    plane.key(),
                    plane.ownKey(),
                    plane.gid(),
                    plane.prefixLength(),
                    plane.interfaceName(),
                    plane.mtu()))
            .toList());
  }

  /** Warns if a listener's planes are no longer those that its handle describes. */
  static void warnIfPlanesChanged(
      byte[] whenListening, ControlMessage.PlaneList theirs, Connection made, Log log) {
    List<String> there = theirs.planes().stream().map(ControlMessage.PlaneOffer::key).toList();
    if (!Arrays.equals(whenListening, PlaneDigest.of(there))) {
      log.warn(
          "the planes of %s aren't those that it had when it wrote its handle: now %s",
          made.peer(), there);
    }
  }

  /** Logs if the connection has fewer queue pairs than this end requested. */
  static void logQueuePairs(
      ConnectionTerms terms, ControlMessage.PlaneList theirs, Connection made, Log log) {
    if (made.pairs().perCarrier() != terms.queuePairsPerPlane()) {
      log.info(
          "connection with %s has %d queue pairs on each plane: here %d are requested, there %d,"
              + " and %d over all planes is the limit",
          made.peer(),
          made.pairs().perCarrier(),
          terms.queuePairsPerPlane(),
          theirs.queuePairsPerPlane(),
          ControlCodec.MAX_QUEUE_PAIRS);
    }
  }
}
