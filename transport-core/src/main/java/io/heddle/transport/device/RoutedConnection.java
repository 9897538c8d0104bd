package io.heddle.transport.device;

import io.heddle.spray.PlaneWeights;
import io.heddle.verbs.Gid;
import java.util.List;

/** A connection whose weights follow routes. */
interface RoutedConnection {
  String peer();

  /** The peer's address on each plane, in order of keys; empty before the planes are paired. */
  List<Gid> remoteGids();

  List<String> planeKeys();

  /** What the routes, or the operator, say of planes that are up. */
  PlaneWeights routedWeights();

  void setRouted(PlaneWeights next);

  /** Routes lead over the plane no more. Any thread. */
  void withdrawn(int plane);
}
