package io.heddle.gateway;

import io.heddle.addr.AddressText;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.Log;
import java.nio.file.Path;

/** Gateway in a separate process, which steers one queue pair and waits to be killed. */
final class GatewayProcess {
  private GatewayProcess() {}

  public static void main(String[] arguments) throws InterruptedException {
    Gateway gateway =
        Gateway.start(GatewayConfigParser.read(Path.of(arguments[0])), Log.toStandardError());
    GatewayView view = gateway.view();
    int rules = view.rules().rules().size();
    gateway.steer(
        new SteerKey(
            AddressText.parse(WanTopology.DESTINATION), Integer.parseInt(arguments[1]), null),
        "sl3");
    gateway.watch(() -> {});
    System.out.println("adopted " + view.lists().adopted() + ", rules " + rules);
    Thread.currentThread().join();
  }
}
