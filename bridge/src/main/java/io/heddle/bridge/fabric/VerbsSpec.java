package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A fabric behind a port of libibverbs as configured.
 *
 * @param name of the fabric
 * @param device as libibverbs names it, with {@code :port} where it has several
 * @param addresses own ones to use, IPv4 mapped; empty for all of the port
 * @param standIns own ones that stand for hosts of the other fabric
 * @param queuePairs that hosts' numbers are mapped to; 0 where no datagram for one host is bridged
 * @param hops time to live of what is sent, 1 to 255
 */
public record VerbsSpec(
    String name, String device, List<Gid> addresses, List<Gid> standIns, int queuePairs, int hops)
    implements FabricSpec {
  @Override
  public String end() {
    return device;
  }

  @Override
  public boolean isSameEnd(FabricSpec other) {
    return other instanceof VerbsSpec verbs && device.equals(verbs.device);
  }

  /** The same with addresses that stand for hosts, and queue pairs for their numbers. */
  public VerbsSpec mapping(List<Gid> others, int pairs) {
    return new VerbsSpec(name, device, addresses, List.copyOf(others), pairs, hops);
  }

  @Override
  public Map<String, Object> fixed() {
    Map<String, Object> fixed = new LinkedHashMap<>();
    fixed.put("kind", "verbs");
    fixed.put("device", device);
    fixed.put("address", addresses);
    fixed.put("hops", hops);
    return fixed;
  }
}
