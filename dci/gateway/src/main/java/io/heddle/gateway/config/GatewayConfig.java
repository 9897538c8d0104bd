package io.heddle.gateway.config;

import io.heddle.addr.AddressText;
import io.heddle.gateway.dataplane.DataPlaneSettings;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a gateway.
 *
 * @param lan names of the interfaces on the data centre's side
 * @param table base number of the lists' routing tables, to which a list's id is added
 * @param preference base of the preferences of the lists' routing rules, to which a list's id is
 *     added
 * @param priority priority of the BPF filter on the LAN's interfaces
 * @param reduced whether the encapsulation leaves the first segment out of the SRH
 * @param control path of the control socket
 * @param telemetry settings of telemetry; null if none is served
 */
public record GatewayConfig(
    List<String> lan,
    DataPlaneSettings settings,
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

  /**
   * Returns the list with this name.
   *
   * @throws HeddleException if there is none, or if its policy doesn't include the destination
   */
  public ListConfig listTowards(String name, InetAddress destination) {
    ListConfig list =
        list(name)
            .orElseThrow(() ->
                new HeddleException(
                    "there is no list "
                        + name
                        + NearestName.suggestion(name, lists().map(ListConfig::name).toList())));
    PolicyConfig policy =
        policies.stream()
            .filter(each -> each.name().equals(list.policy()))
            .findFirst()
            .orElseThrow();
    if (policy.destinations().stream().noneMatch(each -> each.includes(destination))) {
      throw new HeddleException(
          "list "
              + name
              + " belongs to policy "
              + policy.name()
              + ", which has no destination "
              + AddressText.of(destination));
    }
    return list;
  }

  public Optional<PolicyConfig> policy(int number) {
    return policies.stream().filter(each -> each.number() == number).findFirst();
  }

  /**
   * Returns the name of the list with this id; its id after a # if the configuration no longer has
   * the list.
   */
  public String listName(int id) {
    return id == 0 ? "none" : list(id).map(ListConfig::name).orElse("#" + id);
  }
}
