package io.heddle.dataplane.nft;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.DataPlaneSettings;
import io.heddle.dataplane.FlowHash;
import io.heddle.dataplane.FlowRecord;
import io.heddle.dataplane.PacketCount;
import io.heddle.dataplane.SteerKey;
import io.heddle.dataplane.TrafficCounters;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Data plane that is an nftables table. It differs from the BPF program: a queue pair's move
 * doesn't wait for a gap; a segment train counts as one packet with one set of headers; the
 * packet's other mark bits are overwritten; only IP packets are counted. The record of a flow is
 * removed after five minutes without packets.
 */
public final class NftDataPlane implements DataPlane {
  private static final Pattern FLOW =
      Pattern.compile(
          "([0-9a-f.:]+) \\. (?:0x)?([0-9a-f]+) \\. ([0-9a-f.:]+) \\. ([0-9]+)"
              + " counter packets ([0-9]+) bytes ([0-9]+)");
  private static final Pattern STEER =
      Pattern.compile("([0-9a-f.:]+) \\. 0x([0-9a-f]+)(?: \\. ([0-9a-f.:]+))? : 0x([0-9a-f]+)");
  private static final Pattern COUNTER =
      Pattern.compile("counter (\\S+) \\{\\s+packets ([0-9]+) bytes ([0-9]+)");
  private static final int HEXADECIMAL = 16;

  /*
   * Duration below which a reading of the table may be repeated at once. For any query nft reads
   * the whole table, which takes 0.2 s with 10,000 queue pairs.
   */
  private static final long CHEAP_NS = 40_000_000;
  private static final int REST_PER_READING = 4;
  private static final long SAME_SAMPLE_NS = 100_000_000;

  /**
   * Text of the table.
   *
   * @param atNs time of the reading, by System.nanoTime
   * @param tookNs duration of the reading
   */
  private record Reading(String text, long atNs, long tookNs) {}

  /** Kernel's count of the packets from one sender to a queue pair. */
  private record Counted(InetAddress source, int sourcePort, long packets, long bytes) {}

  /** Key of a flow. */
  private record FlowKey(InetAddress destination, int queuePair) {}

  /** State of a queue pair's flow, kept between readings. */
  private record FlowState(long packets, long firstNs, long lastNs) {}

  private final NftCommand nft;
  private final boolean adopted;
  private final Log log;
  private final Map<SteerKey, Integer> steers = new HashMap<>();
  private final Map<Integer, Buckets> buckets = new TreeMap<>();
  private Map<AddressPrefix, Integer> policies = Map.of();
  private Map<FlowKey, FlowState> seen = Map.of();
  private List<Integer> interfaces;
  private DataPlaneSettings settings = new DataPlaneSettings(0, 16, 0, 0);
  private boolean attached;
  private @Nullable Reading reading;

  private NftDataPlane(NftCommand nft, List<Integer> interfaces, boolean adopted, Log log) {
    this.nft = nft;
    this.log = log;
    this.interfaces = interfaces;
    this.adopted = adopted;
  }

  /** Returns why this host can't have this data plane, with the remedy; empty if it can. */
  public static Optional<String> refusal() {
    return NftCommand.refusal();
  }

  /**
   * Adopts the table that exists in the calling thread's network namespace, or creates a table,
   * which isn't attached yet.
   *
   * @param interfaces indexes of the LAN interfaces
   * @param settings settings by which the marks in an adopted table are decoded
   * @throws HeddleException if nft refuses a command
   */
  public static NftDataPlane open(List<Integer> interfaces, DataPlaneSettings settings, Log log) {
    refusal()
        .ifPresent(reason -> {
          throw new HeddleException(reason);
        });
    NftCommand nft = new NftCommand();
    boolean opened = false;
    try {
      boolean found = hasTable(nft);
      if (!found) {
        nft.run(NftRules.state());
      }
      NftDataPlane plane = new NftDataPlane(nft, interfaces, found, log);
      plane.settings = settings;
      plane.readSteers();
      opened = true;
      return plane;
    } finally {
      if (!opened) {
        nft.close();
      }
    }
  }

  private static boolean hasTable(NftCommand nft) {
    try {
      nft.run("list counter inet " + NftRules.TABLE + " " + NftRules.BUILD + "\n");
      return true;
    } catch (HeddleException absent) {
      return false;
    }
  }

  @Override
  public boolean isAdopted() {
    return adopted;
  }

  @Override
  public boolean usesSeg6Labels() {
    return false;
  }

  @Override
  public void configure(DataPlaneSettings wanted) {
    settings = wanted;
    apply();
  }

  @Override
  public void setPolicies(Map<AddressPrefix, Integer> wanted) {
    policies = Map.copyOf(wanted);
    apply();
  }

  @Override
  public void setBuckets(int policy, Buckets wanted) {
    buckets.put(policy, wanted);
    apply();
  }

  @Override
  public Buckets buckets(int policy) {
    return buckets.getOrDefault(policy, Buckets.of(new byte[FlowHash.BUCKETS]));
  }

  /** Does nothing, since this data plane never delays a move until a gap. */
  @Override
  public void setAlive(int list, boolean alive) {
    /* The caller also updates steers and buckets, which suffices. */
  }

  @Override
  public void setInterfaces(List<Integer> indexes) {
    interfaces = List.copyOf(indexes);
  }

  @Override
  public void attach() {
    attached = true;
    apply();
  }

  /*
   * Replaces all rules in one transaction: each packet passes either the old rules or the new ones.
   */
  private void apply() {
    if (attached) {
      query(NftRules.chains(settings, interfaces, policies, buckets));
    }
  }

  private static String family(InetAddress address) {
    return address instanceof Inet6Address ? "6" : "4";
  }

  private static String map(SteerKey key) {
    return (key.source() == null ? "steers" : "sourced") + family(key.destination());
  }

  private static String element(SteerKey key) {
    InetAddress source = key.source();
    return "%s . 0x%s%s"
        .formatted(
            AddressText.of(key.destination()),
            Integer.toHexString(key.queuePair()),
            source == null ? "" : " . " + AddressText.of(source));
  }

  private String element(SteerKey key, int list) {
    return element(key) + " : 0x" + Integer.toHexString(settings.mark(list));
  }

  private static String add(String map, String elements) {
    return "add element inet %s %s { ".formatted(NftRules.TABLE, map) + elements + " }\n";
  }

  private static String delete(SteerKey key) {
    return "delete element inet %s %s { %s }\n".formatted(NftRules.TABLE, map(key), element(key));
  }

  @Override
  public Set<SteerKey> steer(Map<SteerKey, Integer> wanted) {
    Map<String, Integer> used = new HashMap<>();
    steers.keySet().forEach(each -> used.merge(map(each), 1, Integer::sum));
    Set<SteerKey> without = new HashSet<>();
    Map<SteerKey, Integer> taken = new HashMap<>();
    StringBuilder script = new StringBuilder();
    Map<String, StringBuilder> added = new TreeMap<>();
    wanted.forEach((key, list) -> {
      if (list < 1 || list > MOST_LISTS) {
        throw new IllegalArgumentException("segment list " + list + " is not 1 to " + MOST_LISTS);
      }
      Integer before = steers.get(key);
      if (before != null && before.equals(list)) {
        return;
      }
      if (before != null) {
        script.append(delete(key));
      } else if (used.merge(map(key), 1, Integer::sum) > NftRules.MOST_STEERS) {
        without.add(key);
        return;
      }
      taken.put(key, list);
      StringBuilder elements = added.computeIfAbsent(map(key), name -> new StringBuilder());
      elements.append(elements.isEmpty() ? "" : ", ").append(element(key, list));
    });
    if (!taken.isEmpty()) {
      added.forEach((name, elements) -> script.append(add(name, elements.toString())));
      query(script.toString());
      steers.putAll(taken);
    }
    return without;
  }

  @Override
  public boolean release(SteerKey key) {
    if (!steers.containsKey(key)) {
      return false;
    }
    query(delete(key));
    steers.remove(key);
    return true;
  }

  @Override
  public Map<SteerKey, Integer> steers() {
    return Map.copyOf(steers);
  }

  /*
   * Reads the steers of an existing table. Each map is listed by its own call, since nft 1.0.6
   * lists only the last of several.
   */
  private void readSteers() {
    for (String map : List.of("steers6", "sourced6", "steers4", "sourced4")) {
      Matcher each = STEER.matcher(nft.run("list map inet %s %s\n".formatted(NftRules.TABLE, map)));
      while (each.find()) {
        int mark = Integer.parseUnsignedInt(each.group(4), HEXADECIMAL);
        steers.put(
            new SteerKey(
                address(each.group(1)),
                Integer.parseInt(each.group(2), HEXADECIMAL),
                each.group(3) == null ? null : address(each.group(3))),
            (mark & settings.markMask()) >>> settings.markShift());
      }
    }
  }

  private static InetAddress address(String text) {
    return Objects.requireNonNull(AddressText.parse(text), text);
  }

  @Override
  public List<FlowRecord> flows() {
    Map<FlowKey, List<Counted>> counted = new HashMap<>();
    Matcher each = FLOW.matcher(read(0));
    while (each.find()) {
      FlowKey key =
          new FlowKey(address(each.group(1)), Integer.parseInt(each.group(2), HEXADECIMAL));
      counted
          .computeIfAbsent(key, any -> new ArrayList<>())
          .add(
              new Counted(
                  address(each.group(3)),
                  Integer.parseInt(each.group(4)),
                  Long.parseLong(each.group(5)),
                  Long.parseLong(each.group(6))));
    }
    long now = System.nanoTime();
    Map<FlowKey, FlowState> next = new HashMap<>();
    List<FlowRecord> records = new ArrayList<>();
    counted.forEach((key, senders) -> {
      FlowRecord record = record(key, senders, seen.get(key), now);
      next.put(key, new FlowState(record.packets(), record.firstNs(), record.lastNs()));
      records.add(record);
    });
    seen = next;
    return records;
  }

  /*
   * Returns the record of a queue pair's flow. Several senders may send to one queue pair: the
   * record has the sum of their packets, and the path of the largest sender.
   */
  private FlowRecord record(
      FlowKey key, List<Counted> senders, @Nullable FlowState before, long now) {
    Counted largest = senders.stream().max(Comparator.comparingLong(Counted::bytes)).orElseThrow();
    long packets = senders.stream().mapToLong(Counted::packets).sum();
    long bytes = senders.stream().mapToLong(Counted::bytes).sum();
    int hash =
        NftHash.ofQueuePair(
            largest.source(),
            key.destination(),
            largest.sourcePort(),
            key.queuePair(),
            settings.seed());
    int policy = policy(key.destination());
    Integer steered = steered(key, largest.source());
    return new FlowRecord(
        key.destination(),
        key.queuePair(),
        policy,
        largest.source(),
        largest.sourcePort(),
        bytes,
        packets,
        before == null ? now : before.firstNs(),
        before == null || packets != before.packets() ? now : before.lastNs(),
        hash,
        steered == null ? buckets(policy).list(FlowHash.bucket(hash)) : steered,
        steered != null);
  }

  private @Nullable Integer steered(FlowKey key, InetAddress source) {
    if (key.queuePair() < SteerKey.LEAST_QUEUE_PAIR) {
      return null;
    }
    Integer bySource = steers.get(new SteerKey(key.destination(), key.queuePair(), source));
    return bySource == null
        ? steers.get(new SteerKey(key.destination(), key.queuePair(), null))
        : bySource;
  }

  private int policy(InetAddress destination) {
    return policies.entrySet().stream()
        .filter(each -> each.getKey().includes(destination))
        .max(Comparator.comparingInt(each -> each.getKey().lengthBits()))
        .map(Map.Entry::getValue)
        .orElse(0);
  }

  /*
   * Returns the table's text, possibly from the last reading. The longer a reading took, the longer
   * its text is used, so that nft uses at most a fifth of a processor.
   */
  private String read(long oldestNs) {
    Reading last = reading;
    long began = System.nanoTime();
    if (last != null) {
      long rest = last.tookNs() < CHEAP_NS ? 0 : REST_PER_READING * last.tookNs();
      if (began - last.atNs() < Math.max(rest, oldestNs)) {
        return last.text();
      }
    }
    String text = query("list table inet " + NftRules.TABLE + "\n");
    long now = System.nanoTime();
    reading = new Reading(text, now, now - began);
    return text;
  }

  /*
   * Runs a script. If that fails because the table is gone, restores the table and runs the script
   * again.
   */
  private String query(String script) {
    try {
      return nft.run(script);
    } catch (HeddleException failed) {
      if (hasTable(nft)) {
        throw failed;
      }
      restore();
      return nft.run(script);
    }
  }

  /*
   * Creates the table again, with its rules and steers: a reload of the host's own nftables rules
   * may have removed it.
   */
  private void restore() {
    StringBuilder script = new StringBuilder(NftRules.state());
    steers.forEach((key, list) -> script.append(add(map(key), element(key, list))));
    if (attached) {
      script.append(NftRules.chains(settings, interfaces, policies, buckets));
    }
    nft.run(script.toString());
    log.warn(
        "the table inet %s had been removed and is restored; its counts start from 0",
        NftRules.TABLE);
  }

  private Map<String, PacketCount> counted() {
    Map<String, PacketCount> found = new HashMap<>();
    Matcher each = COUNTER.matcher(read(SAME_SAMPLE_NS));
    while (each.find()) {
      found.put(
          each.group(1),
          new PacketCount(Long.parseLong(each.group(2)), Long.parseLong(each.group(3))));
    }
    return found;
  }

  @Override
  public TrafficCounters counters() {
    Map<String, PacketCount> read = counted();
    return new TrafficCounters(
        read.getOrDefault("none", PacketCount.NONE),
        read.getOrDefault("roce", PacketCount.NONE),
        read.getOrDefault("other", PacketCount.NONE),
        read.getOrDefault("steered", PacketCount.NONE),
        PacketCount.NONE,
        PacketCount.NONE);
  }

  @Override
  public Map<Integer, PacketCount> listCounters() {
    Map<String, PacketCount> read = counted();
    Map<Integer, PacketCount> found = new TreeMap<>();
    for (int list = 1; list <= MOST_LISTS; list++) {
      PacketCount count = read.getOrDefault("list" + list, PacketCount.NONE);
      if (count.packets() > 0) {
        found.put(list, count);
      }
    }
    return found;
  }

  @Override
  public void remove() {
    nft.run(NftRules.NONE);
    attached = false;
  }

  /**
   * Removes the table of the calling thread's network namespace, if it exists and is of this build.
   */
  public static void removeTable() {
    try (NftCommand nft = new NftCommand()) {
      if (hasTable(nft)) {
        nft.run(NftRules.NONE);
      }
    }
  }

  @Override
  public void close() {
    nft.close();
  }
}
