package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.daemon.ConfigText;
import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.DataPlaneSettings;
import io.heddle.dataplane.route.SegmentPath;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parser of a configuration file into a {@link GatewayConfig}. docs/dci.md explains each key. */
public final class GatewayConfigParser {
  /** Default control socket of the gateway. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/gateway.sock");

  private static final String POLICY = "policy";
  private static final String LIST = "list";
  private static final Set<String> TOP_KEYS =
      Set.of(
          "lan",
          "seed",
          "control",
          "data-plane",
          "mark-shift",
          "table",
          "preference",
          "priority",
          "encapsulation",
          "gap-us",
          "move-deadline-ms",
          "elephant-mbps",
          "elephant-period-ms",
          "elephant-silence-ms",
          "probe-source",
          "probe-interval-ms",
          "probe-misses",
          "reflect");
  private static final Set<String> ALL_TOP_KEYS =
      Stream.concat(TOP_KEYS.stream(), ControllerParser.TOP_KEYS.stream())
          .collect(Collectors.toUnmodifiableSet());
  private static final Set<String> POLICY_KEYS =
      Set.of("destination", "colour", "endpoint", "probe");
  private static final Set<String> LIST_KEYS =
      Set.of(POLICY, "id", "segments", "weight", "device", "via");

  private final String file;
  private final List<ConfigText.Section> policies;
  private final List<ConfigText.Section> lists;
  private final List<ConfigText.Section> controllers;

  private GatewayConfigParser(String file, List<ConfigText.Section> sections) {
    this.file = file;
    policies = sections.stream().filter(each -> each.kind.equals(POLICY)).toList();
    lists = sections.stream().filter(each -> each.kind.equals(LIST)).toList();
    controllers =
        sections.stream().filter(each -> each.kind.equals(ControllerParser.SECTION)).toList();
  }

  /**
   * Reads a configuration file.
   *
   * @throws HeddleException if the file can't be read or contains an error; the message names file,
   *     line, key, value and the allowed values
   */
  public static GatewayConfig read(Path file) {
    return parse(file.toString(), lines(file));
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException failure) {
      throw new HeddleException(
          "the configuration %s can't be read: %s; write it, or name another with --config"
              .formatted(file, FileFailure.reason(failure)),
          failure);
    }
  }

  /**
   * Reads only the telemetry settings of a configuration file, for a router that isn't a gateway.
   * The file may also contain a gateway's settings.
   *
   * @throws HeddleException as {@link #read} does, and if no telemetry is configured
   */
  public static TelemetryConfig readTelemetry(Path file) {
    TelemetryConfig telemetry =
        new ControllerParser(sections(file.toString(), lines(file)).getFirst()).telemetry();
    if (telemetry == null) {
      throw new HeddleException(
          file + ": there is no 'telemetry'; add telemetry = ADDRESS to listen on");
    }
    return telemetry;
  }

  private static List<ConfigText.Section> sections(String file, List<String> lines) {
    List<ConfigText.Section> sections =
        ConfigText.parse(file, lines, List.of(POLICY, LIST, ControllerParser.SECTION));
    sections.getFirst().refuseUnknown(ALL_TOP_KEYS);
    return sections;
  }

  public static GatewayConfig parse(String file, List<String> lines) {
    List<ConfigText.Section> sections = sections(file, lines);
    GatewayConfigParser parser = new GatewayConfigParser(file, sections);
    parser.policies.forEach(each -> each.refuseUnknown(POLICY_KEYS));
    parser.lists.forEach(each -> each.refuseUnknown(LIST_KEYS));
    return parser.config(sections.getFirst());
  }

  private GatewayConfig config(ConfigText.Section top) {
    List<String> lan =
        top.get("lan", List.of(), "names of interfaces", text -> words(text, word -> word));
    if (lan.isEmpty()) {
      throw new HeddleException(
          file + ": there is no 'lan'; add lan = INTERFACE, on the data centre's side");
    }
    if (policies.isEmpty()) {
      throw new HeddleException(
          file + ": there is no policy; add a section [policy NAME] with a destination");
    }
    if (policies.size() > DataPlane.MOST_POLICIES) {
      throw new HeddleException(
          file + ": " + policies.size() + " policies, " + DataPlane.MOST_POLICIES + " at most");
    }
    List<ListConfig> parsed = new ArrayList<>();
    for (ConfigText.Section section : lists) {
      ListConfig list = list(section);
      for (ListConfig other : parsed) {
        if (other.id() == list.id()) {
          throw section.refuse("id", "is already the id of [list " + other.name() + "]");
        }
        requireSameNextHop(section, list, other);
      }
      parsed.add(list);
    }
    ProbeRules probes =
        new ProbeRules(
            address(top, "probe-source"),
            address(top, "reflect"),
            TimeUnit.MILLISECONDS.toNanos(top.number("probe-interval-ms", 100, 10, 60_000)),
            (int) top.number("probe-misses", 10, 0, 1_000));
    List<PolicyConfig> made = new ArrayList<>();
    for (ConfigText.Section section : policies) {
      PolicyConfig policy = policy(made.size(), section, parsed);
      InetAddress probe = policy.probe();
      if (probe != null && policy.destinations().stream().noneMatch(each -> each.includes(probe))) {
        throw section.refuse(
            "probe", "is none of the policy's destinations, so no list reaches it");
      }
      if (probe != null && probes.source() == null) {
        throw section.refuse(
            "probe", "needs probe-source, an address of this gateway that receives answers");
      }
      made.add(policy);
    }
    DataPlaneSettings settings =
        new DataPlaneSettings(
            (int) top.number("seed", 0, 0, 0xffff_ffffL),
            (int) top.number("mark-shift", 16, 0, 24),
            TimeUnit.MICROSECONDS.toNanos(top.number("gap-us", 0, 0, 10_000_000)),
            TimeUnit.MILLISECONDS.toNanos(top.number("move-deadline-ms", 1_000, 1, 600_000)));
    return new GatewayConfig(
        lan,
        settings,
        dataPlane(top, settings),
        (int) top.number("table", 8400, 256, 0x7fff_0000),
        (int) top.number("preference", 8400, 1, 32_000),
        (int) top.number("priority", 18_500, 1, 0xffff),
        top.get("encapsulation", false, "whole or reduced", GatewayConfigParser::reduced),
        new ElephantRules(
            1_000_000 * top.number("elephant-mbps", 100, 1, 1_000_000),
            TimeUnit.MILLISECONDS.toNanos(top.number("elephant-period-ms", 1_000, 200, 10_000)),
            TimeUnit.MILLISECONDS.toNanos(top.number("elephant-silence-ms", 5_000, 200, 600_000))),
        probes,
        top.get("control", DEFAULT_CONTROL, "a file", Path::of),
        new ControllerParser(top).rules(controllers),
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
          "segments",
          "begins with the same segment as [list %s], but by another path; give both the same 'device' and 'via'"
              .formatted(other.name()));
    }
  }

  private static DataPlaneKind dataPlane(ConfigText.Section top, DataPlaneSettings settings) {
    DataPlaneKind kind =
        top.get(
            "data-plane",
            DataPlaneKind.AUTO,
            "auto, bpf or nftables",
            text -> DataPlaneKind.valueOf(text.toUpperCase(Locale.ROOT)));
    if (kind == DataPlaneKind.NFTABLES && settings.gapNs() > 0) {
      throw top.refuse("gap-us", "needs the BPF program; rules of nftables can't wait for a gap");
    }
    return kind;
  }

  private static boolean reduced(String text) {
    return switch (text) {
      case "reduced" -> true;
      case "whole" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  private PolicyConfig policy(int number, ConfigText.Section section, List<ListConfig> all) {
    List<AddressPrefix> destinations =
        section.get(
            "destination",
            List.of(),
            "prefixes such as fc00:2::/64, 10.2.0.0/16",
            text -> words(text, AddressPrefix::parse));
    if (destinations.isEmpty()) {
      throw section.fail(
          section.number,
          "[policy " + section.name + "] has no destination; add destination = PREFIXES");
    }
    List<ListConfig> own = all.stream().filter(each -> each.policy().equals(section.name)).toList();
    if (own.isEmpty()) {
      throw section.fail(
          section.number,
          "[policy "
              + section.name
              + "] has no segment list; add a section [list NAME] with policy = "
              + section.name);
    }
    return new PolicyConfig(
        number,
        section.name,
        destinations,
        section.number("colour", 0, 0, 0xffff_ffffL),
        section.get("endpoint", null, "an IPv6 address", text -> AddressText.of(ipv6(text))),
        address(section, "probe"),
        own);
  }

  private ListConfig list(ConfigText.Section section) {
    String policy = section.get(POLICY, "", "the name of a [policy]", Function.identity());
    List<String> names = policies.stream().map(each -> each.name).toList();
    if (!names.contains(policy)) {
      if (policy.isEmpty()) {
        throw missing(section, POLICY);
      }
      throw section.refuse(
          POLICY, "is no [policy] of this file" + NearestName.suggestion(policy, names));
    }
    long id = section.number("id", 0, 1, DataPlane.MOST_LISTS);
    if (id == 0) {
      throw missing(section, "id");
    }
    List<Inet6Address> segments =
        section.get(
            "segments",
            List.of(),
            "1 to " + SegmentPath.MOST_SEGMENTS + " IPv6 addresses, the first hop's first",
            text -> {
              List<Inet6Address> found = words(text, GatewayConfigParser::ipv6);
              if (found.size() > SegmentPath.MOST_SEGMENTS) {
                throw new IllegalArgumentException("too many");
              }
              return found;
            });
    if (segments.isEmpty()) {
      throw missing(section, "segments");
    }
    String device = section.text("device", "");
    if (device.isEmpty()) {
      throw missing(section, "device");
    }
    return new ListConfig(
        (int) id,
        section.name,
        policy,
        (int) section.number("weight", 1, 1, 65_535),
        segments,
        device,
        address(section, "via"));
  }

  private static HeddleException missing(ConfigText.Section section, String key) {
    return section.fail(
        section.number,
        "[list " + section.name + "] has no '" + key + "'; docs/dci.md explains it");
  }

  private static @Nullable InetAddress address(ConfigText.Section section, String key) {
    return section.get(
        key, (@Nullable InetAddress) null, "an IPv6 address", GatewayConfigParser::ipv6);
  }

  private static Inet6Address ipv6(String text) {
    if (AddressText.parse(text) instanceof Inet6Address address) {
      return address;
    }
    throw new IllegalArgumentException(text);
  }

  private static <T> List<T> words(String text, Function<String, T> parser) {
    return Stream.of(text.split("[\\s,]+")).filter(word -> !word.isEmpty()).map(parser).toList();
  }
}
