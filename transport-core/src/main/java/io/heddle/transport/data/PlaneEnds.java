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
 * addresses may change, each with the next queue pairs on it.
 *
 * <p>Written on the control thread, read by any.
 */
public final class PlaneEnds {
  /** Ends of a connection whose planes aren't paired yet. */
  public static final PlaneEnds NONE = new PlaneEnds(List.of(), List.of());

  private volatile List<LocalPlane> here;
  private volatile List<PlaneOffer> there;
  private boolean changed;

  /**
   * @param there the peer's planes, in the same order
   */
  public PlaneEnds(List<LocalPlane> here, List<PlaneOffer> there) {
    this.here = List.copyOf(here);
    this.there = List.copyOf(there);
  }

  public int count() {
    return here.size();
  }

  /** Returns this end's planes. */
  public List<LocalPlane> here() {
    return here;
  }

  public LocalPlane here(int plane) {
    return here.get(plane);
  }

  /** Returns the peer's address of a plane. */
  public Gid there(int plane) {
    return there.get(plane).gid();
  }

  /** Returns this end's address on each plane. */
  public List<Gid> localGids() {
    return here.stream().map(LocalPlane::gid).toList();
  }

  /** Returns the peer's address on each plane. */
  public List<Gid> remoteGids() {
    return there.stream().map(PlaneOffer::gid).toList();
  }

  /** Returns the smallest MTU of both ends' interfaces over all these planes. */
  PathMtu smallestMtu(List<Integer> planes) {
    PathMtu smallest = PathMtu.MTU_4096;
    for (int plane : planes) {
      smallest = smallest.min(here.get(plane).mtu()).min(there.get(plane).mtu());
    }
    return smallest;
  }

  /** Returns the index of the plane with this key; −1 where the connection doesn't have it. */
  public int indexOf(LocalPlane plane) {
    List<LocalPlane> all = here;
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).key().equals(plane.key())) {
        return i;
      }
    }
    return -1;
  }

  void moveHere(int plane, LocalPlane next) {
    if (!next.equals(here.get(plane))) {
      List<LocalPlane> all = new ArrayList<>(here);
      all.set(plane, next);
      here = List.copyOf(all);
      changed = true;
    }
  }

  /**
   * Sets new addresses of the peer's planes.
   *
   * @param planes as many as addresses
   * @throws HeddleException where two planes would have one address
   */
  void moveThere(List<Integer> planes, List<PlaneAddress> addresses) {
    List<PlaneOffer> all = new ArrayList<>(there);
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
    if (!all.equals(there)) {
      there = List.copyOf(all);
      changed = true;
    }
  }

  /** Returns whether an address has changed since the last call. Control thread. */
  public boolean takeChanged() {
    boolean had = changed;
    changed = false;
    return had;
  }
}
