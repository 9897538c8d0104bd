package io.heddle.tools.lab;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.Shell;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import io.heddle.tools.switching.LabSwitch;
import io.heddle.tools.switching.LabSwitches;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Fabric of BIRD and FRR routers in network namespaces: leaves and spines, or planes that are
 * separate networks. It outlives the process that created it; any root process finds it by name.
 */
public final class Fabric {
  private static final long READY_SECONDS = 40;
  private static final long POLL_MS = 50;

  private final FabricFolder folder;
  private FabricState state;

  private Fabric(FabricFolder folder, FabricState state) {
    this.folder = folder;
    this.state = state;
  }

  /**
   * Creates a fabric and waits until its routes and addresses are complete.
   *
   * @param owner ID of the process that must take the fabric down; 0 for none, then the fabric
   *     stays until {@link #down}
   * @throws LabException if the fabric already exists or can't be created; nothing of a new fabric
   *     is left behind then
   */
  public static Fabric up(String name, FabricPlan plan, long owner) {
    requireRoot("creating a fabric");
    refusal(plan.frr()).ifPresent(Fabric::refuse);
    removeLeftovers();
    FabricFolder folder = new FabricFolder(name);
    folder.create();
    try {
      String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
      Fabric fabric = new Fabric(folder, new FabricState(name, owner, now, false, plan, List.of()));
      folder.save(fabric.state);
      fabric.build();
      fabric.save(fabric.state.completed());
      return fabric;
    } catch (RuntimeException failed) {
      down(name);
      throw failed;
    }
  }

  /**
   * Returns the fabric with this name.
   *
   * @throws LabException if there is none
   */
  public static Fabric open(String name) {
    requireRoot("reading a fabric's namespaces");
    FabricFolder folder = new FabricFolder(name);
    return new Fabric(folder, folder.load());
  }

  /** Returns the reason why no fabric can be created on this machine; empty if one can. */
  public static java.util.Optional<String> refusal(boolean frr) {
    if (!isRoot()) {
      return java.util.Optional.of("network namespaces and routing daemons need root");
    }
    List<Program> programs =
        new ArrayList<>(
            List.of(
                Program.BIRD, new Program("birdc", "bird2"), Program.NFT, Program.IP, Program.TC));
    if (frr) {
      programs.add(new Program("/usr/lib/frr/zebra", "frr"));
      programs.add(new Program("/usr/lib/frr/bgpd", "frr"));
      programs.add(new Program("vtysh", "frr"));
    }
    return Program.missing(programs);
  }

  private static void refuse(String reason) {
    throw new LabException("a fabric can't be created here: " + reason);
  }

  private static boolean isRoot() {
    try {
      return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException unreadable) {
      throw new LabException("can't determine the effective user: " + unreadable, unreadable);
    }
  }

  private static void requireRoot(String what) {
    if (!isRoot()) {
      throw new LabException(what + " needs root; run it again with sudo");
    }
  }

  private FabricTopology topology() {
    return new FabricTopology(state.plan());
  }

  private FabricLinks links() {
    return new FabricLinks(topology(), state.name());
  }

  private FabricDaemons daemons() {
    return new FabricDaemons(topology(), links(), folder);
  }

  private void save(FabricState changed) {
    folder.save(changed);
    state = changed;
  }

  private void build() {
    links().create();
    FabricDaemons daemons = daemons();
    for (Node router : topology().routers()) {
      daemons.writeConfiguration(router, List.of());
      daemons.start(router);
    }
    links().raiseHosts();
    awaitReady();
  }

  private void awaitReady() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    while (true) {
      FabricStatus status = probe().status(state.completed());
      if (status.healthy()) {
        return;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new LabException(
            "the fabric is not ready after " + READY_SECONDS + " s: " + status.missingParts());
      }
      FabricDaemons.pause(POLL_MS);
    }
  }

  private FabricProbe probe() {
    return new FabricProbe(topology(), links(), daemons());
  }

  public String name() {
    return state.name();
  }

  public FabricPlan plan() {
    return state.plan();
  }

  public FabricStatus status() {
    FabricStatus status = probe().status(state);
    FabricSwitching how = switching();
    return how == null ? status : status.with(status(how));
  }

  private FabricStatus.SwitchingStatus status(FabricSwitching how) {
    return new FabricStatus.SwitchingStatus(
        how.mode().text(),
        how.text(),
        state.owner() != 0 || SwitchesProcess.running(folder.path()) != 0,
        LabSwitches.counts(switches().of(how.polarised())));
  }

  private FabricSwitches switches() {
    return new FabricSwitches(topology(), links());
  }

  /**
   * Returns the settings by which the switches balance load over equal links; null if each plane
   * has its own path.
   */
  public @Nullable FabricSwitching switching() {
    return folder.switching();
  }

  /**
   * Starts the switches' load balancing over equal links. The returned object maintains the load
   * balancing until the object is closed.
   *
   * @throws LabException if the fabric isn't leaf-spine, or lacks a port that the settings name
   */
  public LabSwitches startSwitching(FabricSwitching how) {
    requireChoice(how);
    folder.save(how);
    if (how.perPacket()) {
      switches().disableTrains();
    }
    List<LabSwitch> switches = switches().of(how.polarised());
    for (LabSwitch each : switches) {
      Shell.run(
          List.of("ip", "-6", "-n", each.namespace(), "-batch", "-"),
          String.join("\n", each.routes()) + "\n");
    }
    return LabSwitches.start(switches, how.mode(), how.scope(), Log.toStandardError());
  }

  /** Starts load balancing like {@link #startSwitching}. A background process maintains it. */
  public void switchInBackground(FabricSwitching how) {
    requireChoice(how);
    folder.save(how);
    SwitchesProcess.start(folder.path());
  }

  private void requireChoice(FabricSwitching how) {
    if (plan().shape() != FabricShape.LEAF_SPINE || plan().planes() < 2) {
      throw new LabException(
          "switches balance load only in a leaf-spine fabric of two or more planes");
    }
    switches().check(how.scope());
  }

  /**
   * Returns the number of bytes that each plane's spine, or its leaf if planes are separate
   * networks, has received since the fabric was created, headers included.
   */
  public List<Long> receivedBytesByPlane() {
    return probe().receivedBytesByPlane();
  }

  /** Returns the name of a host's leaf in a leaf–spine fabric; hosts count from 1. */
  public String leafOf(int host) {
    return topology().leafOf(new Node(Role.HOST, host)).name();
  }

  /** Returns the folder with the daemons' configurations, logs and control sockets. */
  public Path folder() {
    return folder.path();
  }

  /** Returns the command line that runs {@code command} on host {@code number}, from 1. */
  public List<String> onHost(int number, List<String> command) {
    return links().inside(new Node(Role.HOST, number), command);
  }

  /**
   * Returns the address that a host's kernel has formed on a plane. Hosts and planes count from 1.
   */
  public String address(int host, int plane) {
    return topology().address(new Node(Role.HOST, host), plane);
  }

  /** Returns a router's reply to a command such as {@code show route all}, from birdc or vtysh. */
  public String query(String router, String command) {
    return daemons().query(topology().node(router), command);
  }

  /**
   * Returns the default node at which a plane is cut: the first leaf, or the first host if planes
   * are separate.
   */
  public String defaultCutLocation() {
    return plan().shape() == FabricShape.LEAF_SPINE ? "l1" : "h1";
  }

  /**
   * Cuts a plane's links.
   *
   * @param at name of the node whose links are cut: a leaf or a spine, or a host if planes are
   *     separate; {@code all} for every link
   * @param silently whether packets are dropped while the carrier stays on
   * @return links that were cut, as {@code leaf:interface}
   */
  public List<String> cut(int plane, String at, boolean silently) {
    List<String> names = new ArrayList<>();
    for (Link link : topology().linksOf(plane, at)) {
      if (silently) {
        links().cutSilently(link);
      } else {
        links().cutCarrier(link);
      }
      names.add(link.leaf().node().name() + ":" + link.leaf().interfaceName());
    }
    return names;
  }

  /** Undoes every cut of a plane, or of all planes if {@code plane} is 0. */
  public void restore(int plane) {
    if (plane != 0) {
      topology().requirePlane(plane);
    }
    for (Link link : topology().planeLinks()) {
      if (plane == 0 || link.plane() == plane) {
        links().restore(link);
      }
    }
  }

  /** Sets a plane's rate, and the path bandwidth that BGP announces for it. */
  public void setRate(int plane, long rateBitsPerSecond, int bandwidthGbps) {
    topology().requirePlane(plane);
    FabricPlan changed;
    try {
      changed = plan().withRate(plane, rateBitsPerSecond, bandwidthGbps);
    } catch (IllegalArgumentException outOfRange) {
      throw new LabException(String.valueOf(outOfRange.getMessage()), outOfRange);
    }
    save(state.withPlan(changed));
    links().shape(plane);
    announce(router -> true);
  }

  /** Restarts the BGP sessions of a BIRD leaf with its hosts. */
  public void resetHostSessions(String leaf) {
    daemons().restartHostSessions(topology().node(leaf));
  }

  /**
   * Returns a control that emulates bursts of other traffic. It lowers a plane's rate at the links
   * of the first leaf, without announcing the lower rate.
   */
  public PlaneBursts bursts() {
    return new PlaneBursts(links(), topology());
  }

  /**
   * Announces a host as unreachable on a plane, or as reachable again. Requires that planes are
   * separate networks.
   */
  public void setReachable(int plane, int host, boolean reachable) {
    topology().requirePlane(plane);
    if (plan().shape() != FabricShape.PLANES) {
      throw new LabException("only separate planes announce a host as unreachable");
    }
    String entry = plane + "/" + topology().address(topology().node("h" + host), plane);
    List<String> entries = new ArrayList<>(state.unreachable());
    entries.remove(entry);
    if (!reachable) {
      entries.add(entry);
    }
    save(state.withUnreachable(entries));
    announce(router -> topology().announcedPlane(router) == plane);
  }

  private void announce(Predicate<Node> which) {
    for (Node router : topology().routers().stream().filter(which).toList()) {
      String own = topology().announcedPlane(router) + "/";
      List<String> unreachable =
          state.unreachable().stream()
              .filter(entry -> entry.startsWith(own))
              .map(entry -> entry.substring(own.length()))
              .toList();
      daemons().reconfigure(router, unreachable);
    }
  }

  /**
   * Removes all parts of the fabric with this name: daemons, namespaces and files. Parts that a
   * killed command left are removed too.
   *
   * @return command lines of foreign processes in the fabric's namespaces; empty for a clean
   *     removal
   * @throws LabException if there are no parts of a fabric with this name
   */
  public static List<String> down(String name) {
    requireRoot("taking a fabric down");
    FabricFolder folder = new FabricFolder(name);
    List<NetworkNamespace> namespaces = NetworkNamespaces.named(FabricLinks.prefix(name));
    if (!folder.exists() && namespaces.isEmpty()) {
      List<String> others = FabricFolder.names();
      throw new LabException(
          "there is no lab named '"
              + name
              + "'"
              + (others.isEmpty() ? "" : "; there is: " + String.join(", ", others)));
    }
    List<String> others = FabricDaemons.endAll(folder);
    namespaces.forEach(NetworkNamespace::remove);
    FrrRouter.removeFolders(FabricLinks.prefix(name));
    folder.remove();
    return others;
  }

  /** Removes the fabric with this name like {@link #down}, or does nothing if there is none. */
  public static void downIfUp(String name) {
    if (new FabricFolder(name).exists()
        || !NetworkNamespaces.named(FabricLinks.prefix(name)).isEmpty()) {
      down(name);
    }
  }

  /** Removes fabrics whose owner was killed. */
  private static void removeLeftovers() {
    for (String name : FabricFolder.names()) {
      long owner;
      try {
        owner = new FabricFolder(name).load().owner();
      } catch (HeddleException halfMade) {
        continue;
      }
      if (owner != 0 && !Shell.isAlive(owner)) {
        down(name);
      }
    }
  }
}
