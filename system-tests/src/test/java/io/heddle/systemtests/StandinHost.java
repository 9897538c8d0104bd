package io.heddle.systemtests;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Environments in which a program uses the stand-in for libibverbs and is a host of its fabric. The
 * returned maps are mutable.
 */
final class StandinHost {
  private StandinHost() {}

  /**
   * Returns the environment of a host with an Ethernet port, without librdmacm.
   *
   * @param folder folder of the fabric
   * @param gids GIDs of the port, separated by commas
   */
  static Map<String, String> onEthernet(Path folder, int host, String gids) {
    String library = String.valueOf(BuildOutputs.standin().getParent());
    return on(folder, host, library, gids);
  }

  /** Returns the environment of a host with an InfiniBand port and the test double of librdmacm. */
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
