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
 * @param hops time to live of what is sent, 1 to 255
 */
public record VerbsSpec(String name, String device, List<Gid> addresses, int hops)
    implements FabricSpec {
  @Override
  public String end() {
    return device;
  }

  @Override
  public boolean isSameEnd(FabricSpec other) {
    return other instanceof VerbsSpec verbs && device.equals(verbs.device);
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
