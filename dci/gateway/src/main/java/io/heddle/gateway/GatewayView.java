package io.heddle.gateway;

import io.heddle.addr.AddressText;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.dataplane.Buckets;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.PacketCount;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.gateway.dataplane.TrafficCounters;
import io.heddle.gateway.flow.MeasuredFlow;
import io.heddle.gateway.probe.ProbeResult;
import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sample of a gateway's flows, lists and rules. Immutable. */
public final class GatewayView {
  private static final double NS_PER_US = 1_000;

  private final GatewayConfig config;
  private final boolean adopted;
  private final List<MeasuredFlow> flows;
  private final Map<Integer, Buckets> buckets;
  private final Map<Integer, Integer> mtus;
  private final Map<Integer, String> reasons;
  private final Map<Integer, PacketCount> counts;
  private final Map<Integer, Long> rates;
  private final TrafficCounters traffic;
  private final Map<Integer, ProbeResult> probes;
  private final Map<SteerKey, WantedSteers.Wanted> rules;
  private final Instant seenAt;
  private final Instant time = Instant.now();
  private final long timeNs = System.nanoTime();

  GatewayView(
      GatewayConfig config,
      boolean adopted,
      List<MeasuredFlow> flows,
      Map<Integer, Buckets> buckets,
      Map<Integer, Integer> mtus,
      Map<Integer, String> reasons,
      Map<Integer, PacketCount> counts,
      Map<Integer, Long> rates,
      TrafficCounters traffic,
      Map<Integer, ProbeResult> probes,
      Map<SteerKey, WantedSteers.Wanted> rules,
      Instant seenAt) {
    this.seenAt = seenAt;
    this.config = config;
    this.adopted = adopted;
    this.flows = flows;
    this.buckets = buckets;
    this.mtus = mtus;
    this.reasons = reasons;
    this.counts = counts;
    this.rates = rates;
    this.traffic = traffic;
    this.probes = probes;
    this.rules = rules;
  }

  GatewayView withRules(Map<SteerKey, WantedSteers.Wanted> newest) {
    return new GatewayView(
        config, adopted, flows, buckets, mtus, reasons, counts, rates, traffic, probes, newest,
        seenAt);
  }

  /** Returns the time of the sample in nanoseconds since the epoch. */
  long timestampNs() {
    return seenAt.getEpochSecond() * 1_000_000_000L + seenAt.getNano();
  }

  private static String text(Instant instant) {
    return instant.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private Instant at(long nanoTime) {
    return time.minusNanos(timeNs - nanoTime);
  }

  /** Returns the flows, the fastest first. */
  public GatewayStatus.Flows flows() {
    return new GatewayStatus.Flows(
        text(seenAt),
        flows.stream().filter(MeasuredFlow::elephant).count(),
        flows.stream()
            .sorted(
                Comparator.comparingLong(MeasuredFlow::bitsPerSecond)
                    .reversed()
                    .thenComparing(each -> -each.flow().lastNs()))
            .map(this::flow)
            .toList());
  }

  /** Returns only the elephants, unordered. */
  List<GatewayStatus.Flow> elephants() {
    return flows.stream().filter(MeasuredFlow::elephant).map(this::flow).toList();
  }

  private GatewayStatus.Flow flow(MeasuredFlow rate) {
    FlowRecord flow = rate.flow();
    @Nullable PolicyConfig policy = config.policy(flow.policy()).orElse(null);
    Buckets byHash = buckets.get(flow.policy());
    return new GatewayStatus.Flow(
        AddressText.of(flow.destination()),
        flow.queuePair(),
        AddressText.of(flow.source()),
        flow.sourcePort(),
        policy == null ? "#" + flow.policy() : policy.name(),
        policy == null ? 0 : policy.colour(),
        policy == null ? null : policy.endpoint(),
        flow.bytes(),
        flow.packets(),
        rate.bitsPerSecond(),
        rate.elephant(),
        config.listName(flow.list()),
        byHash == null ? "none" : config.listName(byHash.list(FlowHash.bucket(flow.hash()))),
        flow.steered() ? setBy(flow) : null,
        FlowHash.label(flow.hash()),
        config
            .list(flow.list())
            .map(each -> AddressText.of(each.segments().getFirst()))
            .orElse(null),
        text(at(flow.firstNs())),
        text(at(flow.lastNs())));
  }

  private String setBy(FlowRecord flow) {
    if (flow.queuePair() < SteerKey.LEAST_QUEUE_PAIR) {
      return WantedSteers.ADOPTED;
    }
    WantedSteers.@Nullable Wanted rule =
        rules.get(new SteerKey(flow.destination(), flow.queuePair(), flow.source()));
    if (rule == null) {
      rule = rules.get(new SteerKey(flow.destination(), flow.queuePair(), null));
    }
    return rule == null ? "a rule that has ended" : rule.setBy();
  }

  /** Returns the segment lists in the order of their policies. */
  public GatewayStatus.Lists lists() {
    return new GatewayStatus.Lists(
        text(seenAt),
        adopted,
        new GatewayStatus.Traffic(
            traffic.roce().packets(),
            traffic.other().packets(),
            traffic.steered().packets(),
            traffic.held().packets(),
            traffic.noPolicy().packets()),
        config.policies().stream()
            .flatMap(policy -> policy.lists().stream().map(list -> list(policy, list)))
            .toList());
  }

  private GatewayStatus.SegmentList list(PolicyConfig policy, ListConfig list) {
    PacketCount count = counts.getOrDefault(list.id(), PacketCount.NONE);
    @Nullable ProbeResult probe = probes.get(list.id());
    return new GatewayStatus.SegmentList(
        list.id(),
        list.name(),
        policy.name(),
        !reasons.containsKey(list.id()),
        reasons.get(list.id()),
        list.weight(),
        Objects.requireNonNull(buckets.get(policy.number())).counts().getOrDefault(list.id(), 0),
        list.segments().stream().map(AddressText::of).toList(),
        list.device(),
        mtus.getOrDefault(list.id(), 0),
        count.packets(),
        count.bytes(),
        rates.getOrDefault(list.id(), 0L),
        flows.stream().filter(each -> each.elephant() && each.flow().list() == list.id()).count(),
        probe == null ? null : known(probe.lossShare()),
        probe == null ? null : known(probe.roundTripNs() / NS_PER_US));
  }

  private static @Nullable Double known(double figure) {
    return Double.isNaN(figure) ? null : figure;
  }

  /** Returns the rules, sorted by destination and queue pair. */
  public GatewayStatus.Rules rules() {
    Set<SteerKey> seen = new HashSet<>();
    for (MeasuredFlow each : flows) {
      FlowRecord flow = each.flow();
      if (flow.queuePair() >= SteerKey.LEAST_QUEUE_PAIR) {
        seen.add(new SteerKey(flow.destination(), flow.queuePair(), null));
        seen.add(new SteerKey(flow.destination(), flow.queuePair(), flow.source()));
      }
    }
    return new GatewayStatus.Rules(
        text(seenAt),
        rules.entrySet().stream()
            .sorted(
                Comparator.comparing(
                        (Map.Entry<SteerKey, WantedSteers.Wanted> each) ->
                            each.getKey().destination(),
                        AddressText.ORDER)
                    .thenComparing(each -> each.getKey().queuePair()))
            .map(each -> rule(each.getKey(), each.getValue(), seen.contains(each.getKey())))
            .toList());
  }

  private GatewayStatus.Rule rule(SteerKey key, WantedSteers.Wanted rule, boolean used) {
    InetAddress source = key.source();
    String reason =
        config.list(rule.list()).isEmpty()
            ? "this gateway has no such list"
            : reasons.containsKey(rule.list())
                ? "the list is dead: " + reasons.get(rule.list())
                : rule.isWaiting() ? "the data plane has no room for more" : null;
    return new GatewayStatus.Rule(
        AddressText.of(key.destination()),
        key.queuePair(),
        source == null ? null : AddressText.of(source),
        config.listName(rule.list()),
        reason == null,
        reason,
        rule.setBy(),
        used);
  }
}
