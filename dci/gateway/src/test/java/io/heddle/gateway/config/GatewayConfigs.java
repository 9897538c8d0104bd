package io.heddle.gateway.config;

import java.util.List;

/** Factory of configurations, for tests of other packages. */
public final class GatewayConfigs {
  private GatewayConfigs() {}

  public static GatewayConfig parse(List<String> lines) {
    return GatewayConfigParser.parse("gateway.conf", String.join("\n", lines));
  }
}
