package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import io.heddle.daemon.ConfigText;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.DataPlaneSettings;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Parser of a configuration file into a {@link GatewayConfig}. docs/dci.md explains each key. */
public final class GatewayConfigParser {
  /** Default control socket of the gateway. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/gateway.sock");

  private final ConfigText text;

  private GatewayConfigParser(ConfigText text) {
    this.text = text;
  }

  /**
   * Reads a configuration file.
   *
   * @throws HeddleException if the file can't be read or contains an error; the message names file,
   *     line, key, value and the allowed values
   */
  public static GatewayConfig read(Path file) {
    return parse(file.toString(), ConfigText.read(file));
  }

  /**
   * Reads only the telemetry settings of a configuration file, for a router that isn't a gateway.
   * The file may also contain a gateway's settings.
   *
   * @throws HeddleException as {@link #read} does, and if no telemetry is configured
   */
  public static TelemetryConfig readTelemetry(Path file) {
    ConfigText.Section top = text(file.toString(), ConfigText.read(file)).top();
    TelemetryConfig telemetry = new ControllerParser(top).telemetry();
    if (telemetry == null) {
      throw top.fail("there is no 'telemetry'; add telemetry = ADDRESS to listen on");
    }
    return telemetry;
  }

  private static ConfigText text(String file, String content) {
    return ConfigText.parse(
        file,
        content,
        GatewayKeys.TOP,
        GatewayKeys.POLICY,
        GatewayKeys.LIST,
        GatewayKeys.CONTROLLER);
  }

  /** Parses the text of a configuration, with the same errors as {@link #read}. */
  public static GatewayConfig parse(String file, String content) {
    return new GatewayConfigParser(text(file, content)).config();
  }

  private GatewayConfig config() {
    ConfigText.Section top = text.top();
    List<String> lan = top.get(GatewayKeys.LAN);
    if (lan.isEmpty()) {
      throw top.fail("there is no 'lan'; add lan = INTERFACE, on the data centre's side");
    }
    List<ConfigText.Section> policies = text.sections(GatewayKeys.POLICY);
    if (policies.isEmpty()) {
      throw top.fail("there is no policy; add a section [policy NAME] with a destination");
    }
    if (policies.size() > DataPlane.MOST_POLICIES) {
      throw top.fail(policies.size() + " policies, " + DataPlane.MOST_POLICIES + " at most");
    }
    List<ListConfig> parsed = new ArrayList<>();
    for (ConfigText.Section section : text.sections(GatewayKeys.LIST)) {
      ListConfig list = list(section, policies);
      for (ListConfig other : parsed) {
        if (other.id() == list.id()) {
          throw section.refuse(GatewayKeys.ID, "is already the id of [list " + other.name() + "]");
        }
        requireSameNextHop(section, list, other);
      }
      parsed.add(list);
    }
    ProbeRules probes =
        new ProbeRules(
            top.get(GatewayKeys.PROBE_SOURCE),
            top.get(GatewayKeys.REFLECT),
            TimeUnit.MILLISECONDS.toNanos(top.get(GatewayKeys.PROBE_INTERVAL_MS)),
            top.get(GatewayKeys.PROBE_MISSES));
    List<PolicyConfig> made = new ArrayList<>();
    for (ConfigText.Section section : policies) {
      PolicyConfig policy = policy(made.size(), section, parsed);
      InetAddress probe = policy.probe();
      if (probe != null && policy.destinations().stream().noneMatch(each -> each.includes(probe))) {
        throw section.refuse(
            GatewayKeys.PROBE, "is none of the policy's destinations, so no list reaches it");
      }
      if (probe != null && probes.source() == null) {
        throw section.refuse(
            GatewayKeys.PROBE,
            "needs probe-source, an address of this gateway that receives answers");
      }
      made.add(policy);
    }
    DataPlaneSettings settings =
        new DataPlaneSettings(
            top.get(GatewayKeys.SEED).intValue(),
            top.get(GatewayKeys.MARK_SHIFT),
            TimeUnit.MICROSECONDS.toNanos(top.get(GatewayKeys.GAP_US)),
            TimeUnit.MILLISECONDS.toNanos(top.get(GatewayKeys.MOVE_DEADLINE_MS)));
    return new GatewayConfig(
        lan,
        settings,
        top.get(GatewayKeys.TABLE),
        top.get(GatewayKeys.PREFERENCE),
        top.get(GatewayKeys.PRIORITY),
        top.get(GatewayKeys.REDUCED),
        new ElephantRules(
            1_000_000L * top.get(GatewayKeys.ELEPHANT_MBPS),
            TimeUnit.MILLISECONDS.toNanos(top.get(GatewayKeys.ELEPHANT_PERIOD_MS)),
            TimeUnit.MILLISECONDS.toNanos(top.get(GatewayKeys.ELEPHANT_SILENCE_MS))),
        probes,
        top.get(GatewayKeys.CONTROL),
        new ControllerParser(top).rules(text.sections(GatewayKeys.CONTROLLER)),
        new ControllerParser(top).telemetry(),
        made);
  }

  /*
   * Checks that two lists with the same first segment have the same next hop, since the kernel has
   * only one route to the segment.
   */
  private static void requireSameNextHop(
      ConfigText.Section section, ListConfig list, ListConfig other) {
    boolean given = list.via() != null || other.via() != null;
    boolean same = list.device().equals(other.device()) && Objects.equals(list.via(), other.via());
    if (given && !same && list.segments().getFirst().equals(other.segments().getFirst())) {
      throw section.refuse(
          GatewayKeys.SEGMENTS,
          "begins with the same segment as [list %s], but by another path; give both the same 'device' and 'via'"
              .formatted(other.name()));
    }
  }

  private static PolicyConfig policy(int number, ConfigText.Section section, List<ListConfig> all) {
    List<AddressPrefix> destinations = section.require(GatewayKeys.DESTINATION);
    List<ListConfig> own =
        all.stream().filter(each -> each.policy().equals(section.name())).toList();
    if (own.isEmpty()) {
      throw section.fail(
          section.title()
              + " has no segment list; add a section [list NAME] with policy = "
              + section.name());
    }
    return new PolicyConfig(
        number,
        section.name(),
        destinations,
        section.get(GatewayKeys.COLOUR),
        section.get(GatewayKeys.ENDPOINT),
        section.get(GatewayKeys.PROBE),
        own);
  }

  private static ListConfig list(ConfigText.Section section, List<ConfigText.Section> policies) {
    String policy = section.require(GatewayKeys.LIST_POLICY);
    List<String> names = policies.stream().map(ConfigText.Section::name).toList();
    if (!names.contains(policy)) {
      throw section.refuse(
          GatewayKeys.LIST_POLICY,
          "is no [policy] of this file" + NearestName.suggestion(policy, names));
    }
    return new ListConfig(
        section.require(GatewayKeys.ID),
        section.name(),
        policy,
        section.get(GatewayKeys.WEIGHT),
        section.require(GatewayKeys.SEGMENTS),
        section.require(GatewayKeys.DEVICE),
        section.get(GatewayKeys.VIA));
  }
}
