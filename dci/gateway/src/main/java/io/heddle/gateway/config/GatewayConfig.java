package io.heddle.gateway.config;

import io.heddle.dataplane.DataPlaneSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a gateway is told to do.
 *
 * @param lan interfaces of the data centre's side
 * @param dataPlane which one forwards
 * @param table a list's table in the kernel is this and its id
 * @param preference likewise of its rule
 * @param priority of the filter on the LAN's interfaces
 * @param reduced whether the encapsulation leaves the first segment out of the SRH
 * @param telemetry null where none is served
 */
public record GatewayConfig(
    List<String> lan,
    DataPlaneSettings settings,
    DataPlaneKind dataPlane,
    int table,
    int preference,
    int priority,
    boolean reduced,
    ElephantRules elephants,
    ProbeRules probes,
    Path control,
    ControllerRules controllers,
    @Nullable TelemetryConfig telemetry,
    List<PolicyConfig> policies) {

  public Stream<ListConfig> lists() {
    return policies.stream().flatMap(each -> each.lists().stream());
  }

  public Optional<ListConfig> list(int id) {
    return lists().filter(each -> each.id() == id).findFirst();
  }

  public Optional<ListConfig> list(String name) {
    return lists().filter(each -> each.name().equals(name)).findFirst();
  }

  public Optional<PolicyConfig> policy(int number) {
    return policies.stream().filter(each -> each.number() == number).findFirst();
  }

  /** As people know it; its number where the configuration doesn't have it any more. */
  public String listName(int id) {
    return id == 0 ? "none" : list(id).map(ListConfig::name).orElse("#" + id);
  }
}
