package io.heddle.controller.run;

import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.ListReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Builder of the solver's snapshot from telemetry and configuration. */
final class SnapshotBuilder {
  private static final double US_PER_MS = 1_000;

  /** Key of a gateway's list. */
  private record GatewayList(String gateway, int list) {}

  private final NetworkConfig network;
  private final TelemetryStore store;
  private final Map<GatewayList, NetworkConfig.ListPath> paths = new HashMap<>();
  private final Map<String, NetworkConfig.Link> linksByName = new HashMap<>();
  private final AddressTexts addresses = new AddressTexts();

  SnapshotBuilder(NetworkConfig network, TelemetryStore store) {
    this.network = network;
    this.store = store;
    network
        .paths()
        .forEach(each -> paths.putIfAbsent(new GatewayList(each.gateway(), each.list()), each));
    network.links().forEach(each -> linksByName.put(each.name(), each));
  }

  /**
   * Snapshot, with the parts that are missing from it.
   *
   * @param gaps sentences on gateways and policies about which nothing can be decided
   * @param unknown names of the gateways that the gaps concern
   */
  record Result(NetworkSnapshot snapshot, List<String> gaps, Set<String> unknown) {}

  /** Returns the name of a gateway's policy in a snapshot. */
  static String policy(String gateway, String policy) {
    return gateway + "/" + policy;
  }

  Result make(long nowNs) {
    List<SteeredPolicy> policies = new ArrayList<>();
    List<PathList> lists = new ArrayList<>();
    List<ElephantFlow> flows = new ArrayList<>();
    Map<String, WanLink> links = new LinkedHashMap<>();
    List<String> gaps = new ArrayList<>();
    Set<String> unknown = new HashSet<>();
    for (NetworkConfig.Target gateway : network.gateways()) {
      List<String> lacks = new ArrayList<>();
      TelemetryStore.Reported reported = store.reported(gateway.name());
      if (reported.isWhole()) {
        try {
          NetworkSnapshot own = make(nowNs, gateway.name(), reported, lacks);
          policies.addAll(own.policies());
          lists.addAll(own.lists());
          flows.addAll(own.flows());
          own.links().forEach(each -> links.put(each.name(), each));
        } catch (IllegalArgumentException odd) {
          lacks.add(
              "%s: its reports are inconsistent: %s".formatted(gateway.name(), odd.getMessage()));
        }
      } else {
        String trouble = reported.trouble();
        lacks.add(
            "%s: %s"
                .formatted(
                    gateway.name(), trouble == null ? "not all has been reported yet" : trouble));
      }
      if (!lacks.isEmpty()) {
        gaps.addAll(lacks);
        unknown.add(gateway.name());
      }
    }
    return new Result(
        new NetworkSnapshot(nowNs, policies, lists, List.copyOf(links.values()), flows),
        gaps,
        unknown);
  }

  /*
   * Returns the part of the snapshot for one gateway. Incomplete policies are left out and listed
   * as gaps.
   */
  private NetworkSnapshot make(
      long nowNs, String gateway, TelemetryStore.Reported reported, List<String> gaps) {
    List<SteeredPolicy> policies = new ArrayList<>();
    List<PathList> lists = new ArrayList<>();
    List<ElephantFlow> flows = new ArrayList<>();
    Map<String, WanLink> links = new LinkedHashMap<>();
    Map<String, List<ListReport>> byPolicy = new LinkedHashMap<>();
    reported
        .lists()
        .forEach(
            each -> byPolicy.computeIfAbsent(each.policy(), any -> new ArrayList<>()).add(each));
    byPolicy.forEach((name, these) -> {
      Set<String> lacks = addLinks(gateway, these, links);
      if (lacks.isEmpty()) {
        String policy = policy(gateway, name);
        policies.add(new SteeredPolicy(policy, gateway, reported.elephantsNs()));
        these.forEach(each -> lists.add(list(gateway, policy, each)));
      } else {
        gaps.add(policy(gateway, name) + ": " + String.join(", ", lacks));
      }
    });
    flows(gateway, reported.elephants(), lists, flows);
    return new NetworkSnapshot(nowNs, policies, lists, List.copyOf(links.values()), flows);
  }

  /* Adds the links of a policy's lists. Returns descriptions of missing data. */
  private Set<String> addLinks(String gateway, List<ListReport> lists, Map<String, WanLink> links) {
    Set<String> lacks = new LinkedHashSet<>();
    for (ListReport list : lists) {
      NetworkConfig.ListPath path = paths.get(new GatewayList(gateway, list.id()));
      if (path == null) {
        lacks.add("no [path] names the links of list %s".formatted(list.id()));
        continue;
      }
      for (String name : path.links()) {
        NetworkConfig.Link link = linksByName.get(name);
        if (link != null) {
          TelemetryStore.Rate rate = store.rate(link.target(), link.interfaceName());
          if (rate == null) {
            lacks.add(
                "%s hasn't counted twice what it sends on %s"
                    .formatted(link.target(), link.interfaceName()));
          } else {
            links.put(
                link.name(),
                new WanLink(link.name(), link.capacity(), rate.bitsPerSecond(), rate.sampledNs()));
          }
        }
      }
    }
    return lacks;
  }

  private PathList list(String gateway, String policy, ListReport list) {
    Double roundTripUs = list.roundTripUs();
    Double loss = list.loss();
    return new PathList(
        policy,
        list.id(),
        Objects.requireNonNull(paths.get(new GatewayList(gateway, list.id()))).links(),
        list.up(),
        roundTripUs == null ? 0 : roundTripUs / US_PER_MS,
        loss == null ? 0 : loss);
  }

  /* Adds the elephants that can have a rule. The others count as background traffic. */
  private void flows(
      String gateway,
      List<ElephantReport> elephants,
      List<PathList> lists,
      List<ElephantFlow> flows) {
    Map<String, String> names = new HashMap<>();
    Map<String, Set<Integer>> known = new HashMap<>();
    lists.forEach(
        each -> known.computeIfAbsent(each.policy(), any -> new HashSet<>()).add(each.id()));
    for (ElephantReport each : elephants) {
      String policy = names.computeIfAbsent(each.policy(), name -> policy(gateway, name));
      AddressTexts.Parsed source = addresses.of(each.source());
      AddressTexts.Parsed destination = addresses.of(each.destination());
      if (RuleBook.hasRules(source, destination)
          && known.getOrDefault(policy, Set.of()).contains(each.list())) {
        flows.add(
            new ElephantFlow(
                new FlowId(gateway, source.canonical(), destination.canonical(), each.queuePair()),
                policy,
                each.bitsPerSecond(),
                each.list(),
                each.listByHash()));
      }
    }
  }
}
