package io.heddle.transport.data;

import io.heddle.platform.HeddleException;
import io.heddle.transport.control.ControlMessage.PlaneAddress;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.util.ArrayList;
import java.util.List;

/**
 * Addresses of each plane of a connection at both ends. A plane is identified by its key; its
 * addresses may change whenever new queue pairs are made on it.
 *
 * <p>Written on the control thread, read by any.
 */
public final class PlaneEnds {
  /** Ends of a connection whose planes aren't paired yet. */
  public static final PlaneEnds NONE = new PlaneEnds(List.of(), List.of());

  private volatile List<LocalPlane> localPlanes;
  private volatile List<PlaneOffer> remotePlanes;
  private boolean changed;

  /**
   * @param remotePlanes the peer's planes, in the order of {@code localPlanes}
   */
  public PlaneEnds(List<LocalPlane> localPlanes, List<PlaneOffer> remotePlanes) {
    this.localPlanes = List.copyOf(localPlanes);
    this.remotePlanes = List.copyOf(remotePlanes);
  }

  public int count() {
    return localPlanes.size();
  }

  /** Returns this end's planes. */
  public List<LocalPlane> localPlanes() {
    return localPlanes;
  }

  public LocalPlane local(int plane) {
    return localPlanes.get(plane);
  }

  /** Returns the peer's address of a plane. */
  public Gid remoteGid(int plane) {
    return remotePlanes.get(plane).gid();
  }

  /** Returns this end's address on each plane. */
  public List<Gid> localGids() {
    return localPlanes.stream().map(LocalPlane::gid).toList();
  }

  /** Returns the peer's address on each plane. */
  public List<Gid> remoteGids() {
    return remotePlanes.stream().map(PlaneOffer::gid).toList();
  }

  /** Returns the smallest MTU of both ends' interfaces over all these planes. */
  PathMtu smallestMtu(List<Integer> planes) {
    PathMtu smallest = PathMtu.MTU_4096;
    for (int plane : planes) {
      smallest = smallest.min(localPlanes.get(plane).mtu()).min(remotePlanes.get(plane).mtu());
    }
    return smallest;
  }

  /** Returns the index of the plane with this key; −1 where the connection doesn't have it. */
  public int indexOf(LocalPlane plane) {
    List<LocalPlane> all = localPlanes;
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).key().equals(plane.key())) {
        return i;
      }
    }
    return -1;
  }

  void moveLocal(int plane, LocalPlane next) {
    if (!next.equals(localPlanes.get(plane))) {
      List<LocalPlane> all = new ArrayList<>(localPlanes);
      all.set(plane, next);
      localPlanes = List.copyOf(all);
      changed = true;
    }
  }

  /**
   * Sets new addresses of the peer's planes.
   *
   * @param planes indexes of the planes, one for each address
   * @throws HeddleException where two planes would have one address
   */
  void moveRemote(List<Integer> planes, List<PlaneAddress> addresses) {
    List<PlaneOffer> all = new ArrayList<>(remotePlanes);
    for (int i = 0; i < addresses.size(); i++) {
      PlaneAddress next = addresses.get(i);
      PlaneOffer before = all.get(planes.get(i));
      all.set(planes.get(i), before.at(next));
    }
    if (all.stream().map(PlaneOffer::gid).distinct().count() < all.size()) {
      throw new HeddleException(
          "the other end has two planes on one address: "
              + all.stream().map(each -> each.key() + " on " + each.gid()).toList());
    }
    if (!all.equals(remotePlanes)) {
      remotePlanes = List.copyOf(all);
      changed = true;
    }
  }

  /** Returns whether an address has changed since the last call. Control thread. */
  public boolean takeAddressesChanged() {
    boolean had = changed;
    changed = false;
    return had;
  }
}
