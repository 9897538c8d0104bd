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
 * The data plane as a table of nftables. What the BPF program can and this can't: a move waits for
 * no gap; a train counts as one packet, with its headers once; the whole mark is set; only IP is
 * seen. A flow that is silent for five minutes is forgotten.
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

  /* nft reads all of a table, whatever it is asked for: 0.2 s with 10,000 queue pairs. */
  private static final long CHEAP_NS = 40_000_000;
  private static final int REST_PER_READING = 4;
  private static final long SAME_LOOK_NS = 100_000_000;

  /**
   * The table, as text.
   *
   * @param tookNs what it took to get it
   */
  private record Reading(String text, long atNs, long tookNs) {}

  /** A queue pair as the kernel has it. */
  private record Counted(InetAddress source, int sourcePort, long packets, long bytes) {}

  /** Whose packets they are. */
  private record FlowKey(InetAddress destination, int queuePair) {}

  /** What is remembered of a queue pair from one reading to the next. */
  private record Seen(long packets, long firstNs, long lastNs) {}

  private final NftCommand nft;
  private final boolean adopted;
  private final Log log;
  private final Map<SteerKey, Integer> steers = new HashMap<>();
  private final Map<Integer, Buckets> buckets = new TreeMap<>();
  private Map<AddressPrefix, Integer> policies = Map.of();
  private Map<FlowKey, Seen> seen = Map.of();
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

  /** Why this host has none, with the remedy. */
  public static Optional<String> refusal() {
    return NftCommand.refusal();
  }

  /**
   * Finds the table at work in the calling thread's network namespace, or makes one that isn't at
   * work yet.
   *
   * @param interfaces indexes of the LAN's
   * @param settings by which marks of a table at work are read
   * @throws HeddleException where nft refuses it
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
  public boolean labelsBySeg6() {
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

  /** Nothing waits here, on whichever list. */
  @Override
  public void setAlive(int list, boolean alive) {
    /* What goes by a dead list is steered and put into other buckets by the calls for that. */
  }

  @Override
  public void belong(List<Integer> indexes) {
    interfaces = List.copyOf(indexes);
  }

  @Override
  public void attach() {
    attached = true;
    apply();
  }

  /* One transaction: each packet meets the old rules or the new ones. */
  private void apply() {
    if (attached) {
      ask(NftRules.chains(settings, interfaces, policies, buckets));
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
    StringBuilder gone = new StringBuilder();
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
        gone.append(delete(key));
      } else if (used.merge(map(key), 1, Integer::sum) > NftRules.MOST_STEERS) {
        without.add(key);
        return;
      }
      taken.put(key, list);
      StringBuilder elements = added.computeIfAbsent(map(key), name -> new StringBuilder());
      elements.append(elements.isEmpty() ? "" : ", ").append(element(key, list));
    });
    if (!taken.isEmpty()) {
      added.forEach((name, elements) -> gone.append(add(name, elements.toString())));
      ask(gone.toString());
      steers.putAll(taken);
    }
    return without;
  }

  @Override
  public boolean release(SteerKey key) {
    if (!steers.containsKey(key)) {
      return false;
    }
    ask(delete(key));
    steers.remove(key);
    return true;
  }

  @Override
  public Map<SteerKey, Integer> steers() {
    return Map.copyOf(steers);
  }

  /* One map a call: nft 1.0.6 finds but the last of several. */
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
    Map<FlowKey, Seen> next = new HashMap<>();
    List<FlowRecord> records = new ArrayList<>();
    counted.forEach((key, senders) -> {
      FlowRecord record = record(key, senders, seen.get(key), now);
      next.put(key, new Seen(record.packets(), record.firstNs(), record.lastNs()));
      records.add(record);
    });
    seen = next;
    return records;
  }

  /* Several may send datagrams to one queue pair: it has the sum of them, and the largest one's path. */
  private FlowRecord record(FlowKey key, List<Counted> senders, @Nullable Seen before, long now) {
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
   * The table as it is, or was a moment ago. Where reading takes long it is done more seldom: nft has a fifth of a
   * processor at most.
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
    String text = ask("list table inet " + NftRules.TABLE + "\n");
    long now = System.nanoTime();
    reading = new Reading(text, now, now - began);
    return text;
  }

  /* What is said of the table; where it is gone it is made again first. */
  private String ask(String script) {
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

  /* Whoever loads a host's own rules anew flushes ours with them: they are made again, with what was steered. */
  private void restore() {
    StringBuilder script = new StringBuilder(NftRules.state());
    steers.forEach((key, list) -> script.append(add(map(key), element(key, list))));
    if (attached) {
      script.append(NftRules.chains(settings, interfaces, policies, buckets));
    }
    nft.run(script.toString());
    log.warn(
        "the table inet %s was gone, and is there again: its counts begin anew", NftRules.TABLE);
  }

  private Map<String, PacketCount> counted() {
    Map<String, PacketCount> found = new HashMap<>();
    Matcher each = COUNTER.matcher(read(SAME_LOOK_NS));
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

  /** Takes the table away where there is one. */
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
