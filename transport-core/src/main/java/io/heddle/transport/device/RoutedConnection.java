package io.heddle.transport.device;

import io.heddle.spray.PlaneWeights;
import io.heddle.verbs.Gid;
import java.util.List;

/** Connection whose weights follow routes. */
interface RoutedConnection {
  String peer();

  /**
   * Returns the peer's address on each plane, in order of keys; empty before the planes are paired.
   */
  List<Gid> remoteGids();

  List<String> planeKeys();

  /** Returns the weights that the routes, or the operator, set for planes that are up. */
  PlaneWeights routedWeights();

  void setRouted(PlaneWeights next);

  /** Reports that the plane's route is withdrawn. Any thread. */
  void withdrawn(int plane);
}
