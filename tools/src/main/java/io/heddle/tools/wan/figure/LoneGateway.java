package io.heddle.tools.wan.figure;

import io.heddle.bgp.flowspec.session.RuleAnnouncer;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import java.io.IOException;
import java.net.Inet6Address;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Gateway in this process, alone in a network namespace with a LAN link and two WAN links. The
 * links lead to no peer.
 */
final class LoneGateway implements AutoCloseable {
  static final String SOURCE = "fc00:1::1";
  static final String DESTINATION = "fc00:2::2";
  static final int CONTROLLER_PORT = 10_179;
  static final int ROUTER_ID = 0x0a000001;
  static final long AS = 65_000;

  private static final String HOST = "lone";
  private static final int CONTROLLER_ID = 0x0a000009;

  private static final Log SILENT = (level, sentence) -> {};

  private final NetworkNamespaces net;
  private final Path file;
  private final Gateway gateway;

  /**
   * Creates a namespace and its gateway.
   *
   * @param folder folder for the gateway's configuration
   * @throws io.heddle.platform.HeddleException if the host refuses; no namespace is left then
   */
  LoneGateway(Path folder) throws IOException {
    this(folder, "");
  }

  /**
   * Creates a namespace and its gateway, with additional configuration.
   *
   * @param more configuration lines above the first section
   */
  LoneGateway(Path folder, String more) throws IOException {
    file = folder.resolve("lone.conf");
    Files.writeString(file, more + config(folder));
    net = declared().create();
    try {
      gateway = call(this::start);
    } catch (RuntimeException failed) {
      net.closeAfter(failed);
      throw failed;
    }
  }

  /*
   * Starts the gateway in its namespace. A new thread inherits the namespace of the thread that
   * starts it.
   */
  private Gateway start() {
    Gateway started = Gateway.start(GatewayConfigParser.read(file), SILENT);
    started.watch(() -> {});
    return started;
  }

  private static String config(Path folder) {
    StringBuilder text =
        new StringBuilder(
            """
            lan = lan
            control = %s
            router-id = 10.0.0.1
            as = %s
            bgp-port = 0
            [controller main]
            address = ::1
            port = %s
            destinations = fc00:2::/64
            [policy wan]
            destination = fc00:2::/64
            """
                .formatted(folder.resolve("lone.sock"), AS, CONTROLLER_PORT));
    for (int list = 1; list <= 2; list++) {
      text.append(
          """
          [list sl%1$s]
          policy = wan
          id = %1$s
          segments = 5f00:0:%1$s::1, 5f00:0:99::d6
          device = w%1$s
          """
              .formatted(list));
    }
    return text.toString();
  }

  private static NetworkTopology declared() {
    NetworkTopology topology = new NetworkTopology().node(HOST, "net.ipv6.conf.all.forwarding=1");
    for (String name : List.of("lan", "w1", "w2")) {
      topology.link(HOST + " " + name, HOST + " far" + name);
    }
    return topology;
  }

  /**
   * Listens for the gateway's BGP session, as its controller. Returns the session before the
   * gateway connects.
   *
   * @param speaker controller's speaker, which runs in the gateway's namespace
   * @param codec codec of the rules
   * @param announcer controller's announcer of rules
   */
  PeerSession listen(BgpSpeaker speaker, FlowspecCodec codec, RuleAnnouncer announcer) {
    speaker.listen(Endpoint.anyAddress(CONTROLLER_PORT));
    PeerSession session =
        speaker.add(
            PeerOptions.builder("gateway")
                .remote((Inet6Address) Prefix.of("::1").address())
                .localAs(AS)
                .remoteAs(AS)
                .routerId(CONTROLLER_ID)
                .families(Families.of(List.of(codec)))
                .passive(true)
                .build(),
            announcer);
    speaker.execute(session::start);
    return session;
  }

  Gateway gateway() {
    return gateway;
  }

  /** Runs a step in the gateway's namespace. */
  <T> T call(Callable<T> step) {
    return net.node(HOST).call(step);
  }

  /** Closes the gateway. Removing the namespace also ends the data plane. */
  @Override
  public void close() {
    gateway.close();
    net.close();
  }
}
