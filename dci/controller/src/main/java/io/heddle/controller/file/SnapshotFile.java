package io.heddle.controller.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Snapshot of the network with the rules in force, from a JSON file. Names are in snake case.
 *
 * @param ruleFlows rules in force, by flow
 */
public record SnapshotFile(NetworkSnapshot snapshot, Map<FlowId, RuleOf> ruleFlows) {
  private static final long MS_NS = 1_000_000;
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /**
   * Rule in force.
   *
   * @param policy name of the policy
   * @param list id of the list that the rule sends the flow to
   */
  public record RuleOf(String policy, int list) {}

  private record PolicyEntry(@Nullable String name, @Nullable String gateway, long ageMs) {}

  private record ListEntry(
      @Nullable String policy,
      @Nullable Integer id,
      @Nullable List<String> links,
      @Nullable Boolean up,
      double latencyMs,
      double loss) {}

  private record LinkEntry(
      @Nullable String name, @Nullable Double capacityBps, @Nullable Double rateBps, long ageMs) {}

  private record FlowEntry(
      @Nullable String source,
      @Nullable String destination,
      @Nullable Integer queuePair,
      @Nullable String policy,
      @Nullable Double rateBps,
      @Nullable Integer list,
      @Nullable Integer listByHash) {}

  private record InForce(
      @Nullable String source,
      @Nullable String destination,
      @Nullable Integer queuePair,
      @Nullable String policy,
      @Nullable Integer list) {}

  private record Document(
      @Nullable List<PolicyEntry> policies,
      @Nullable List<ListEntry> lists,
      @Nullable List<LinkEntry> links,
      @Nullable List<FlowEntry> flows,
      @Nullable List<InForce> rules) {}

  /**
   * Reads a file.
   *
   * @throws HeddleException if the file can't be read or contains an error; the message names file
   *     and error
   */
  public static SnapshotFile read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException unreadable) {
      throw new HeddleException(
          file + " can't be read: " + FileFailure.reason(unreadable), unreadable);
    }
    try {
      return of(MAPPER.readValue(text, Document.class));
    } catch (JsonProcessingException malformed) {
      String where =
          malformed.getLocation() == null ? "" : " line " + malformed.getLocation().getLineNr();
      throw new HeddleException(file + where + ": " + malformed.getOriginalMessage(), malformed);
    } catch (IllegalArgumentException impossible) {
      throw new HeddleException(file + ": " + impossible.getMessage(), impossible);
    }
  }

  private static SnapshotFile of(Document document) {
    /* Time of the snapshot. The ages in the file are relative to it. */
    long nowNs = Long.MAX_VALUE / 2;
    Map<String, String> gateways = new HashMap<>();
    List<SteeredPolicy> policies = new ArrayList<>();
    for (PolicyEntry each : required(document.policies(), "policies")) {
      String name = required(each.name(), "name of a policy");
      String gateway = required(each.gateway(), "gateway of policy " + name);
      gateways.put(name, gateway);
      policies.add(new SteeredPolicy(name, gateway, nowNs - each.ageMs() * MS_NS));
    }
    List<PathList> lists = new ArrayList<>();
    for (ListEntry each : required(document.lists(), "lists")) {
      int id = required(each.id(), "id of a list");
      lists.add(
          new PathList(
              required(each.policy(), "policy of list " + id),
              id,
              required(each.links(), "links of list " + id),
              each.up() == null || each.up(),
              each.latencyMs(),
              each.loss()));
    }
    List<WanLink> links = new ArrayList<>();
    for (LinkEntry each : required(document.links(), "links")) {
      String name = required(each.name(), "name of a link");
      links.add(
          new WanLink(
              name,
              required(each.capacityBps(), "capacity_bps of link " + name),
              required(each.rateBps(), "rate_bps of link " + name),
              nowNs - each.ageMs() * MS_NS));
    }
    List<ElephantFlow> flows = new ArrayList<>();
    for (FlowEntry each : required(document.flows(), "flows")) {
      FlowId id = id(each.source(), each.destination(), each.queuePair(), each.policy(), gateways);
      int list = required(each.list(), "list of " + id);
      flows.add(
          new ElephantFlow(
              id,
              required(each.policy(), "policy of " + id),
              required(each.rateBps(), "rate_bps of " + id),
              list,
              each.listByHash() == null ? list : each.listByHash()));
    }
    Map<FlowId, RuleOf> rules = new HashMap<>();
    for (InForce each : document.rules() == null ? List.<InForce>of() : document.rules()) {
      FlowId id = id(each.source(), each.destination(), each.queuePair(), each.policy(), gateways);
      rules.put(
          id,
          new RuleOf(
              required(each.policy(), "policy of the rule of " + id),
              required(each.list(), "list of the rule of " + id)));
    }
    return new SnapshotFile(new NetworkSnapshot(nowNs, policies, lists, links, flows), rules);
  }

  private static FlowId id(
      @Nullable String source,
      @Nullable String destination,
      @Nullable Integer queuePair,
      @Nullable String policy,
      Map<String, String> gateways) {
    String to = required(destination, "destination of a flow");
    int number = required(queuePair, "queue_pair of a flow to " + to);
    String gateway = gateways.get(required(policy, "policy of queue pair " + number + " of " + to));
    if (gateway == null) {
      throw new IllegalArgumentException(
          "queue pair "
              + number
              + " of "
              + to
              + " names policy "
              + policy
              + ", which doesn't exist");
    }
    return new FlowId(gateway, required(source, "source of queue pair " + number), to, number);
  }

  private static <T> T required(@Nullable T value, String what) {
    if (value == null) {
      throw new IllegalArgumentException("the " + what + " is missing");
    }
    return value;
  }
}
