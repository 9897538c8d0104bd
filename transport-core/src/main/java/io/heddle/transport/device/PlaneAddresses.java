package io.heddle.transport.device;

import io.heddle.addr.HostPlanes;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneSuccession;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Present addresses of a device's planes. A plane whose address left the GID table moves to another
 * address of its interface ({@link PlaneSuccession}), as soon as there is an unambiguous one. GID
 * indexes are looked up at each use, since address changes and link failures move them. So a plane
 * keeps its address at any index, also where an index was configured for the start.
 *
 * <p>Written on the control thread, read by any.
 */
public final class PlaneAddresses {
  /**
   * Move of a plane from one address to another.
   *
   * @param gone whether the host has lost the old address; otherwise the old address still serves
   *     its connections
   */
  record Move(LocalPlane before, LocalPlane now, boolean gone) {}

  private final DeviceContext context;
  private final Supplier<HostPlanes> host;
  private final long wantedIndex;
  private final List<LocalPlane> initial;
  private final Map<String, String> warned = new HashMap<>();
  private final Log log;
  private volatile List<LocalPlane> current;

  /* Written by the address follower's thread and the control thread. */
  private volatile boolean isAnyMissing;

  /**
   * @param host source of the host's present planes
   * @param wantedIndex GID index that successors must have; negative for any
   * @param planes as found at the start, in order of keys
   */
  public PlaneAddresses(
      DeviceContext context,
      Supplier<HostPlanes> host,
      long wantedIndex,
      List<LocalPlane> planes,
      Log log) {
    this.context = context;
    this.host = host;
    this.wantedIndex = wantedIndex;
    this.log = log;
    initial = List.copyOf(planes);
    current = initial;
  }

  /** Returns the planes in order of keys. Any thread. */
  List<LocalPlane> current() {
    return current;
  }

  /** Records that some plane's address is gone, or soon will be. Any thread. */
  void markMissing() {
    isAnyMissing = true;
  }

  /** Returns whether some plane is still without an address. Any thread. */
  boolean hasMissingPlane() {
    return isAnyMissing;
  }

  /**
   * Looks for successor addresses of all planes whose address is gone; returns those that moved.
   */
  List<Move> findSuccessors() {
    List<Move> moves = new ArrayList<>();
    /*
     * Cleared before the GID table is read, so that an address that is lost meanwhile leads to
     * another search.
     */
    isAnyMissing = false;
    GidTable table = context.gidTable();
    for (LocalPlane plane : current) {
      if (!isInTable(table, plane)) {
        Move move = successor(table, plane);
        if (move == null) {
          isAnyMissing = true;
        } else {
          moves.add(move);
        }
      }
    }
    return moves;
  }

  /**
   * Looks for an address of a plane that failed at its present address. The plane returns to its
   * first address if that is back. It takes another address only if its present one is gone.
   *
   * @return the move; null where the plane stays
   */
  @Nullable Move findForRetry(String key) {
    GidTable table = context.gidTable();
    int index = indexOf(key);
    LocalPlane plane = current.get(index);
    LocalPlane before = initial.get(index);
    if (!plane.equals(before) && isInTable(table, before)) {
      log.info(
          "plane %s of %s is back at its address %s on %s, from %s",
          plane.key(), name(), before.gid(), before.interfaceName(), plane.gid());
      return moved(plane, before, false);
    }
    return isInTable(table, plane) ? null : successor(table, plane);
  }

  /** Returns the plane at its present address. */
  LocalPlane of(String key) {
    return current.get(indexOf(key));
  }

  private int indexOf(String key) {
    for (int i = 0; i < initial.size(); i++) {
      if (initial.get(i).key().equals(key)) {
        return i;
      }
    }
    throw new IllegalArgumentException(name() + " has no plane " + key);
  }

  private String name() {
    return context.device().name();
  }

  private static boolean isInTable(GidTable table, LocalPlane plane) {
    return table.indexOf(plane.gid()).isPresent();
  }

  private @Nullable Move successor(GidTable table, LocalPlane gone) {
    HostPlanes found = host.get();
    PlaneSuccession succession =
        new PlaneSuccession(
            found,
            name(),
            address -> {
              OptionalInt index = table.indexOf(Gid.of(address));
              return index.isPresent() && (wantedIndex < 0 || index.getAsInt() == wantedIndex);
            });
    List<PlaneSuccession.KnownPlane> others =
        current.stream().filter(plane -> plane != gone).map(this::known).toList();
    PlaneSuccession.Answer answer = succession.of(known(gone), others);
    Plane next = answer.plane();
    if (next == null) {
      warnOnce(gone, answer.why());
      return null;
    }
    warned.remove(gone.key());
    Gid gid = Gid.of(next.address().address());
    log.info(
        "plane %s of %s: %s on %s takes the place of its address %s (%s)",
        gone.key(), name(), gid, next.link().name(), gone.gid(), next.reason());
    PathMtu mtu = PathMtu.fittingLink(next.link().mtuBytes()).min(context.port().activeMtu());
    boolean has =
        found.host().addresses().stream()
            .anyMatch(each -> Gid.of(each.address()).equals(gone.gid()));
    int prefixLength = next.address().prefixLength();
    return moved(
        gone,
        new LocalPlane(gone.key(), gone.ownKey(), gid, prefixLength, mtu, next.link().name()),
        !has);
  }

  private PlaneSuccession.KnownPlane known(LocalPlane plane) {
    Gid before = initial.get(indexOf(plane.key())).gid();
    return new PlaneSuccession.KnownPlane(
        plane.key(),
        plane.ownKey(),
        List.of(plane.gid().toAddress(), before.toAddress()),
        plane.interfaceName());
  }

  private Move moved(LocalPlane before, LocalPlane next, boolean gone) {
    current = current.stream().map(plane -> plane == before ? next : plane).toList();
    return new Move(before, next, gone);
  }

  private void warnOnce(LocalPlane gone, String why) {
    if (!why.isEmpty() && !why.equals(warned.put(gone.key(), why))) {
      log.warn(
          "plane %s of %s: its address %s is gone, and none takes its place: %s; it waits for the"
              + " old one",
          gone.key(), name(), gone.gid(), why);
    }
  }
}
