package io.heddle.gateway.dataplane;

import io.heddle.addr.AddressPrefix;
import io.heddle.bpf.BpfMap;
import io.heddle.bpf.BpfObject;
import io.heddle.bpf.BpfProgram;
import io.heddle.bpf.TcIngress;
import io.heddle.platform.HeddleException;
import io.heddle.platform.SystemCallException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Forwarding of a gateway: a BPF program on the ingress of the LAN interfaces, with its maps. A
 * packet's destination selects its policy, the packet's hash selects one of the policy's buckets,
 * and the bucket has a segment list. A steering entry (a steer) overrides the bucket for one queue
 * pair. The program marks the packet with the list, and sets the hash from which the kernel derives
 * the packet's outer flow label.
 *
 * <p>The program keeps forwarding when its process ends. Used by one thread at a time.
 *
 * <p>A program of the same build that is already attached is adopted with its maps, so flows and
 * steers persist. A program of another build is replaced at {@link #attach}, together with its
 * maps.
 */
public final class DataPlane implements AutoCloseable {
  public static final int MOST_POLICIES = 64;

  /** Largest list id; the smallest is 1. */
  public static final int MOST_LISTS = 64;

  private static final String PROGRAM = "heddle_gateway";
  private static final BpfObject OBJECT = BpfObject.of(DataPlane.class, "gateway.bpf.o");
  private static final int HANDLE = 1;

  /* E2BIG, which the kernel returns if a hash map is full. */
  private static final int NO_ROOM = 7;

  private final int priority;
  private List<TcIngress> places;
  private final BpfProgram program;
  private final boolean adopted;
  private final long digest;
  private DataPlaneSettings settings = new DataPlaneSettings(0, 16, 0, 0);
  private final Set<SteerKey> present = new HashSet<>();
  private int steers;
  private int steersBySource;

  private DataPlane(
      int priority, List<TcIngress> places, BpfProgram program, boolean adopted, long digest) {
    this.priority = priority;
    this.places = places;
    this.program = program;
    this.adopted = adopted;
    this.digest = digest;
    countSteers();
  }

  private void countSteers() {
    steers = 0;
    steersBySource = 0;
    present.clear();
    present.addAll(steers().keySet());
    present.forEach(key -> count(key, 1));
  }

  /**
   * Returns everything that this build or this host lacks for the program, with the remedies; empty
   * if it can be loaded.
   */
  public static Optional<String> refusal() {
    return OBJECT.refusal();
  }

  /**
   * Adopts the data plane that is already attached, or loads a new one, which isn't attached yet.
   *
   * @param interfaces indexes of the LAN interfaces
   * @param priority priority of the program's filter on each interface
   * @throws HeddleException if the program can't be loaded, or if another program's filter has this
   *     priority
   */
  public static DataPlane open(List<Integer> interfaces, int priority) {
    refusal()
        .ifPresent(reason -> {
          throw new HeddleException(reason);
        });
    long digest = OBJECT.digest();
    List<TcIngress> places = places(interfaces, priority);
    BpfProgram ours = null;
    for (TcIngress place : places) {
      BpfProgram found = ours == null ? find(place, digest) : null;
      ours = found == null ? ours : found;
    }
    return ours == null
        ? new DataPlane(priority, places, OBJECT.load(PROGRAM), false, digest)
        : new DataPlane(priority, places, ours, true, digest);
  }

  private static List<TcIngress> places(List<Integer> interfaces, int priority) {
    return interfaces.stream().map(each -> new TcIngress(each, priority, HANDLE)).toList();
  }

  /* Returns the attached program if it is of this build, otherwise null. */
  private static @Nullable BpfProgram find(TcIngress place, long digest) {
    BpfProgram found = place.find().orElse(null);
    if (found == null) {
      return null;
    }
    if (!found.name().equals(PROGRAM)) {
      String name = found.name();
      found.close();
      throw new HeddleException(
          "interface "
              + place.interfaceIndex()
              + " has the filter "
              + name
              + " of another owner at priority "
              + place.priority()
              + "; choose another priority with \"priority\" in the configuration");
    }
    BpfMap kept = found.maps().get("settings");
    if (kept != null && kept.valueBytes() == GatewayMaps.SETTINGS_BYTES) {
      ByteBuffer words = kept.lookup(GatewayMaps.number(0)).orElseThrow();
      if (words.getLong(0) == digest) {
        return found;
      }
    }
    found.close();
    return null;
  }

  /**
   * Returns whether the program was already attached when it was opened, and has kept its flows and
   * steers.
   */
  public boolean isAdopted() {
    return adopted;
  }

  public void configure(DataPlaneSettings wanted) {
    settings = wanted;
    writeSettings();
  }

  private void writeSettings() {
    program
        .map("settings")
        .put(GatewayMaps.number(0), GatewayMaps.settings(settings, digest, steers, steersBySource));
  }

  private void count(SteerKey key, int by) {
    if (key.source() == null) {
      steers += by;
    } else {
      steersBySource += by;
    }
  }

  /**
   * Replaces the policies.
   *
   * @param policies the policies' numbers, 0 to {@link #MOST_POLICIES} − 1, by destination; the
   *     longest prefix wins
   */
  public void setPolicies(Map<AddressPrefix, Integer> policies) {
    BpfMap map = program.map("policies");
    Map<ByteBuffer, byte[]> wanted = new HashMap<>();
    policies.forEach((prefix, number) ->
        wanted.put(ByteBuffer.wrap(GatewayMaps.prefix(prefix)), GatewayMaps.number(number)));
    List<byte[]> stale = new ArrayList<>();
    map.forEach((key, value) -> {
      byte[] copy = new byte[key.remaining()];
      key.get(copy);
      if (!wanted.containsKey(ByteBuffer.wrap(copy))) {
        stale.add(copy);
      }
    });
    wanted.forEach((key, value) -> map.put(key.array(), value));
    stale.forEach(map::remove);
  }

  public void setBuckets(int policy, Buckets buckets) {
    program.map("buckets").put(GatewayMaps.number(policy), buckets.toBytes());
  }

  public Buckets buckets(int policy) {
    ByteBuffer lists = program.map("buckets").lookup(GatewayMaps.number(policy)).orElseThrow();
    return Buckets.of(lists.array());
  }

  /** Sets whether a list is alive. A queue pair leaves a dead list without waiting for a gap. */
  public void setAlive(int list, boolean alive) {
    program.map("alive").put(GatewayMaps.number(list), GatewayMaps.number(alive ? 1 : 0));
  }

  /**
   * Sets the interfaces for the next {@link #attach}.
   *
   * @param interfaces indexes of the LAN interfaces; a recreated interface has a new index
   */
  public void setInterfaces(List<Integer> interfaces) {
    places = places(interfaces, priority);
  }

  /** Attaches the program to each of its interfaces, unless it is attached already. */
  public void attach() {
    for (TcIngress place : places) {
      Optional<BpfProgram> there = place.find();
      boolean isOurs = there.isPresent() && there.get().id() == program.id();
      there.ifPresent(BpfProgram::close);
      if (!isOurs) {
        place.attach(program);
      }
    }
  }

  /**
   * Steers queue pairs to lists, whatever their packets' hashes are.
   *
   * @return keys for which there is no room; the other queue pairs are steered
   */
  public Set<SteerKey> steer(Map<SteerKey, Integer> wanted) {
    Map<byte[], byte[]> entries = new IdentityHashMap<>();
    wanted.forEach((key, list) -> {
      if (list < 1 || list > MOST_LISTS) {
        throw new IllegalArgumentException("segment list " + list + " is not 1 to " + MOST_LISTS);
      }
      entries.put(GatewayMaps.steerKey(key), GatewayMaps.number(list));
      if (present.add(key)) {
        count(key, 1);
      }
    });
    try {
      /*
       * Writes the number of steers first, since the program looks steers up only if their number
       * isn't 0.
       */
      writeSettings();
      program.map("steers").putAll(entries);
      return Set.of();
    } catch (SystemCallException refused) {
      try {
        return steerEach(wanted, refused);
      } finally {
        countSteers();
        writeSettings();
      }
    }
  }

  /*
   * Writes steers one by one, since a batch stops at the first key for which there is no room.
   * Returns the keys without room.
   */
  private Set<SteerKey> steerEach(Map<SteerKey, Integer> wanted, SystemCallException refused) {
    if (refused.errno() != NO_ROOM) {
      throw refused;
    }
    Set<SteerKey> without = new HashSet<>();
    wanted.forEach((key, list) -> {
      try {
        program.map("steers").put(GatewayMaps.steerKey(key), GatewayMaps.number(list));
      } catch (SystemCallException full) {
        if (full.errno() != NO_ROOM) {
          throw full;
        }
        without.add(key);
      }
    });
    return without;
  }

  /** Removes a steer. Returns whether there was one. */
  public boolean release(SteerKey key) {
    boolean was = program.map("steers").remove(GatewayMaps.steerKey(key));
    if (was) {
      present.remove(key);
      count(key, -1);
      writeSettings();
    }
    return was;
  }

  public Map<SteerKey, Integer> steers() {
    Map<SteerKey, Integer> found = new HashMap<>();
    program
        .map("steers")
        .forEach((key, value) -> found.put(GatewayMaps.steerKey(key), value.getInt(0)));
    return found;
  }

  public List<FlowRecord> flows() {
    List<FlowRecord> found = new ArrayList<>();
    program.map("flows").forEach((key, value) -> found.add(GatewayMaps.flow(key, value)));
    return found;
  }

  public TrafficCounters counters() {
    BpfMap counters = program.map("counters");
    return new TrafficCounters(
        GatewayMaps.count(counters, 0),
        GatewayMaps.count(counters, 1),
        GatewayMaps.count(counters, 2),
        GatewayMaps.count(counters, 3),
        GatewayMaps.count(counters, 4),
        GatewayMaps.count(counters, 5));
  }

  /** Returns the traffic of each list, by list id. Id 0 is traffic for which no list was alive. */
  public Map<Integer, PacketCount> listCounters() {
    BpfMap counters = program.map("list_counters");
    Map<Integer, PacketCount> found = new TreeMap<>();
    for (int list = 0; list <= MOST_LISTS; list++) {
      PacketCount count = GatewayMaps.count(counters, list);
      if (count.packets() > 0) {
        found.put(list, count);
      }
    }
    return found;
  }

  /** Returns the program, for tests that run it on single packets. */
  BpfProgram program() {
    return program;
  }

  /**
   * Runs the program on a packet without sending it, for measurements.
   *
   * @param packet bytes of the packet, from its Ethernet header on
   * @param times number of runs
   * @return average duration of a run in nanoseconds
   */
  public long run(byte[] packet, int times) {
    return program.run(packet, times).durationNs();
  }

  /** Removes the program: from the next packet on, no packet is marked. */
  public void remove() {
    detach(places);
  }

  /** Removes the program from these interfaces, even a program of another build. */
  public static void removeFrom(List<Integer> interfaces, int priority) {
    detach(places(interfaces, priority));
  }

  private static void detach(List<TcIngress> places) {
    for (TcIngress place : places) {
      Optional<BpfProgram> there = place.find();
      if (there.isPresent() && there.get().name().equals(PROGRAM)) {
        place.detach();
      }
      there.ifPresent(BpfProgram::close);
    }
  }

  /** Closes this handle. The program keeps forwarding. */
  @Override
  public void close() {
    program.close();
  }
}
