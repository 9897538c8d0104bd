package io.heddle.bgp.session;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.bfd.BfdSpeaker;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.RouterDiscovery;
import io.heddle.platform.Log;
import io.heddle.platform.SystemCallException;
import java.net.Inet6Address;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Supervisor of the path to a peer: finds the peer on its link, advertises this host there, and
 * runs BFD. For the loop's thread.
 */
final class PeerPath {
  private final BgpSpeaker speaker;
  private final PeerOptions options;
  private final Log log;
  private @Nullable RouterDiscovery discovery;
  private BfdSpeaker.@Nullable Path watched;

  PeerPath(BgpSpeaker speaker, PeerOptions options) {
    this.speaker = speaker;
    this.options = options;
    this.log = speaker.loop().log();
  }

  /**
   * Starts router discovery and our router advertisements, if the peer has a link-local address.
   */
  void open(Consumer<Inet6Address> onRouter) {
    boolean onLink = PeerOptions.isOnLinkLocal(options.remote());
    if (discovery == null && onLink && !options.interfaceName().isEmpty()) {
      discovery = new RouterDiscovery(speaker.loop(), options.interfaceName(), onRouter);
    }
  }

  /**
   * Starts BFD once the session is up.
   *
   * @param local our address in the session; BFD also sends from it, because the peer expects it
   */
  void sessionUp(Endpoint local, @Nullable Endpoint remote, Consumer<String> onPathDown) {
    RouterDiscovery running = discovery;
    if (running != null) {
      running.setSessionUp(true);
    }
    BfdOptions wanted = options.bfd();
    if (wanted == null || remote == null) {
      return;
    }
    BfdSpeaker.PathListener listener =
        new BfdSpeaker.PathListener() {
          @Override
          public void pathUp() {
            log.info("peer %s: BFD is up", options.name());
          }

          @Override
          public void pathDown(String why) {
            onPathDown.accept(why);
          }
        };
    try {
      watched = speaker.bfd().watch(local, remote, options.interfaceName(), wanted, listener);
    } catch (SystemCallException refused) {
      log.warn("peer %s: no BFD: %s", options.name(), String.valueOf(refused.getMessage()));
    }
  }

  /** Ends BFD when the session is down. */
  void sessionDown() {
    RouterDiscovery running = discovery;
    if (running != null) {
      running.setSessionUp(false);
    }
    BfdSpeaker.Path path = watched;
    if (path != null) {
      watched = null;
      path.close();
    }
  }

  void close() {
    sessionDown();
    RouterDiscovery running = discovery;
    if (running != null) {
      running.close();
      discovery = null;
    }
  }
}
