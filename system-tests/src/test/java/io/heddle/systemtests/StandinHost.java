package io.heddle.systemtests;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The environment in which a program finds the stand-in for libibverbs, and is a host of its
 * fabric. Maps that may be added to.
 */
final class StandinHost {
  private StandinHost() {}

  /**
   * With a port on Ethernet, and no communication manager.
   *
   * @param folder where the fabric is
   * @param gids of the port, with commas between them
   */
  static Map<String, String> onEthernet(Path folder, int host, String gids) {
    String library = String.valueOf(BuildOutputs.standin().getParent());
    return on(folder, host, library, gids);
  }

  /** With a port on InfiniBand, and the double of librdmacm. */
  static Map<String, String> onInfiniband(Path folder, int host) {
    Map<String, String> environment = on(folder, host, BuildOutputs.standinWithManager(), "-");
    environment.put("STANDIN_LINK", "infiniband");
    return environment;
  }

  private static Map<String, String> on(Path folder, int host, String libraries, String gids) {
    Map<String, String> environment = new HashMap<>();
    environment.put("LD_LIBRARY_PATH", libraries);
    environment.put("STANDIN_FABRIC", folder.resolve("fabric").toString());
    environment.put("STANDIN_HOST", Integer.toString(host));
    environment.put("STANDIN_GIDS", gids);
    return environment;
  }
}
