package io.heddle.controller.network;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.telemetry.tls.TlsFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Parser for the sections of the controller's configuration. docs/dci.md explains each key. */
public final class NetworkParser {
  /** Default control socket of the controller. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/controller.sock");

  private final ConfigText text;
  private final ConfigText.Section top;

  private NetworkParser(ConfigText text) {
    this.text = text;
    top = text.top();
  }

  /** Returns the text of a controller's configuration, whose sections {@link #parse} reads. */
  public static ConfigText text(String file, String content) {
    return ConfigText.parse(
        file,
        content,
        ControllerKeys.TOP,
        ControllerKeys.GATEWAY,
        ControllerKeys.ROUTER,
        ControllerKeys.PEER,
        ControllerKeys.LINK,
        ControllerKeys.PATH);
  }

  /**
   * Parses the sections. Returns null if there are none: a dry run needs no sections.
   *
   * @throws HeddleException for an error, whose message names file, line, key, value and the
   *     allowed values
   */
  public static @Nullable NetworkConfig parse(ConfigText text) {
    return text.sections().isEmpty() ? null : new NetworkParser(text).network();
  }

  private NetworkConfig network() {
    int routerId = top.get(ControllerKeys.ROUTER_ID);
    long as = top.get(ControllerKeys.AS);
    if (routerId == 0 || as == 0) {
      throw text.sections().getFirst().fail("a network needs router-id and as, above all sections");
    }
    ComponentTypes types = new ComponentTypes(top.get(ControllerKeys.QUEUE_PAIR_COMPONENT));
    List<NetworkConfig.Target> targets = new ArrayList<>();
    text.sections(ControllerKeys.GATEWAY)
        .forEach(each ->
            targets.add(
                target(
                    each,
                    ControllerKeys.OF_GATEWAY,
                    each.require(ControllerKeys.GATEWAY_ROUTER_ID),
                    targets)));
    text.sections(ControllerKeys.ROUTER)
        .forEach(each -> targets.add(target(each, ControllerKeys.OF_ROUTER, 0, targets)));
    List<NetworkConfig.Link> links =
        text.sections(ControllerKeys.LINK).stream().map(each -> link(each, targets)).toList();
    List<NetworkConfig.ListPath> paths = new ArrayList<>();
    text.sections(ControllerKeys.PATH)
        .forEach(each -> paths.add(path(each, targets, links, paths)));
    String audit = top.get(ControllerKeys.AUDIT);
    return new NetworkConfig(
        routerId,
        as,
        top.get(ControllerKeys.BGP_PORT),
        TimeUnit.SECONDS.toNanos(top.get(ControllerKeys.REFRESH_S)),
        types,
        new IndirectionEncoding(0, top.get(ControllerKeys.LIST_ID_TYPE)),
        top.get(ControllerKeys.CONTROL),
        audit.isEmpty() ? null : Path.of(audit),
        new TlsFiles(
            file(ControllerKeys.CERTIFICATE),
            file(ControllerKeys.KEY),
            file(ControllerKeys.AUTHORITIES)),
        targets,
        text.sections(ControllerKeys.PEER).stream()
            .map(each ->
                ControllerKeys.OF_PEER
                    .options(each, as, routerId, types)
                    .restartSeconds(top.get(ControllerKeys.RESTART_S))
                    .build())
            .toList(),
        links,
        paths);
  }

  private Path file(ConfigKey<String> key) {
    String name = top.get(key);
    if (name.isEmpty()) {
      throw text.sections()
          .getFirst()
          .fail("telemetry needs %s = FILE above all sections, in PEM".formatted(key.name()));
    }
    return Path.of(name);
  }

  private static NetworkConfig.Target target(
      ConfigText.Section section,
      ControllerKeys.TargetKeys keys,
      int routerId,
      List<NetworkConfig.Target> before) {
    if (before.stream().anyMatch(each -> each.name().equals(section.name()))) {
      throw section.fail("target " + section.name() + " is defined twice");
    }
    String serverName = section.get(keys.serverName());
    return new NetworkConfig.Target(
        section.name(),
        section.require(keys.address()),
        section.get(keys.port()),
        serverName.isEmpty() ? null : serverName,
        routerId);
  }

  private static NetworkConfig.Link link(
      ConfigText.Section section, List<NetworkConfig.Target> targets) {
    List<String> names = targets.stream().map(NetworkConfig.Target::name).toList();
    return new NetworkConfig.Link(
        section.name(),
        known(section, ControllerKeys.TARGET, names, "[gateway] or [router]"),
        section.require(ControllerKeys.INTERFACE),
        1e6 * section.require(ControllerKeys.CAPACITY_MBPS));
  }

  private static NetworkConfig.ListPath path(
      ConfigText.Section section,
      List<NetworkConfig.Target> targets,
      List<NetworkConfig.Link> links,
      List<NetworkConfig.ListPath> before) {
    List<String> gateways =
        targets.stream()
            .filter(NetworkConfig.Target::isGateway)
            .map(NetworkConfig.Target::name)
            .toList();
    String gateway = known(section, ControllerKeys.PATH_GATEWAY, gateways, "[gateway]");
    int list = section.require(ControllerKeys.PATH_LIST);
    if (before.stream().anyMatch(each -> each.gateway().equals(gateway) && each.list() == list)) {
      throw section.refuse(ControllerKeys.PATH_LIST, "of " + gateway + " already has a path");
    }
    List<String> names = links.stream().map(NetworkConfig.Link::name).toList();
    List<String> over = section.require(ControllerKeys.LINKS);
    for (String each : over) {
      if (!names.contains(each)) {
        throw section.refuse(
            ControllerKeys.LINKS,
            "names " + each + ", which is no [link]" + NearestName.suggestion(each, names));
      }
    }
    if (new HashSet<>(over).size() < over.size()) {
      throw section.refuse(ControllerKeys.LINKS, "names a link twice");
    }
    return new NetworkConfig.ListPath(gateway, list, over);
  }

  private static String known(
      ConfigText.Section section, ConfigKey<String> key, List<String> names, String kind) {
    String name = section.require(key);
    if (!names.contains(name)) {
      throw section.refuse(
          key, "is no " + kind + " of this file" + NearestName.suggestion(name, names));
    }
    return name;
  }
}
