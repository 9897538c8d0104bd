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
 * The link to a peer: finds the peer there, lets it find us, and watches the path to it. Loop
 * thread only.
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

  /** Looks for the peer and advertises us, where it is on link-local addresses. */
  void open(Consumer<Inet6Address> onRouter) {
    boolean onLink = PeerOptions.isOnLinkLocal(options.remote());
    if (discovery == null && onLink && !options.interfaceName().isEmpty()) {
      discovery = new RouterDiscovery(speaker.loop(), options.interfaceName(), onRouter);
    }
  }

  /**
   * The session is up.
   *
   * @param local this end's address of the session: the one under which the peer knows us, so that
   *     BFD comes from it, too
   */
  void met(Endpoint local, @Nullable Endpoint remote, Consumer<String> onPathDown) {
    RouterDiscovery looking = discovery;
    if (looking != null) {
      looking.met(true);
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

  /** The session is down. */
  void parted() {
    RouterDiscovery looking = discovery;
    if (looking != null) {
      looking.met(false);
    }
    BfdSpeaker.Path path = watched;
    if (path != null) {
      watched = null;
      path.close();
    }
  }

  void close() {
    parted();
    RouterDiscovery looking = discovery;
    if (looking != null) {
      looking.close();
      discovery = null;
    }
  }
}
