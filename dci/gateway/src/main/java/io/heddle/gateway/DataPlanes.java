package io.heddle.gateway;

import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.bpf.BpfDataPlane;
import io.heddle.dataplane.nft.NftDataPlane;
import io.heddle.gateway.config.DataPlaneKind;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.util.List;
import java.util.Optional;

/** Selection of the data plane, by configuration and host. */
final class DataPlanes {
  private DataPlanes() {}

  /** Returns why no data plane can be used, with the remedy. */
  static Optional<String> refusal(GatewayConfig config) {
    return switch (config.dataPlane()) {
      case BPF -> BpfDataPlane.refusal();
      case NFTABLES -> NftDataPlane.refusal();
      case AUTO ->
          isBpf(config)
              ? Optional.empty()
              : NftDataPlane.refusal()
                  .map(nft -> BpfDataPlane.refusal().orElseThrow() + "; and instead of it, " + nft);
    };
  }

  /* Only the BPF program can delay a move until a gap. */
  private static boolean isBpf(GatewayConfig config) {
    return switch (config.dataPlane()) {
      case BPF -> true;
      case NFTABLES -> false;
      case AUTO -> config.settings().gapNs() > 0 || BpfDataPlane.refusal().isEmpty();
    };
  }

  /**
   * Adopts the data plane that is already at work in the calling thread's network namespace, or
   * creates one.
   *
   * @param interfaces indexes of the LAN's
   * @throws HeddleException if the host supports none
   */
  static DataPlane open(GatewayConfig config, List<Integer> interfaces, Log log) {
    if (isBpf(config)) {
      return BpfDataPlane.open(interfaces, config.priority());
    }
    if (config.dataPlane() == DataPlaneKind.AUTO) {
      log.info(
          "rules of nftables forward, since %s",
          BpfDataPlane.refusal().orElse("BPF isn't available"));
    }
    return NftDataPlane.open(interfaces, config.settings(), log);
  }

  /** Removes the other kind of data plane, which an earlier configuration may have installed. */
  static void removeOther(GatewayConfig config, List<Integer> interfaces) {
    if (isBpf(config)) {
      removeNft(config);
    } else {
      removeBpf(config, interfaces);
    }
  }

  /** Removes both kinds. */
  static void remove(GatewayConfig config, List<Integer> interfaces) {
    removeBpf(config, interfaces);
    removeNft(config);
  }

  private static void removeBpf(GatewayConfig config, List<Integer> interfaces) {
    if (BpfDataPlane.refusal().isEmpty()) {
      BpfDataPlane.removeFrom(interfaces, config.priority());
    }
  }

  private static void removeNft(GatewayConfig config) {
    if (NftDataPlane.refusal().isEmpty()) {
      NftDataPlane.removeTable();
    }
  }
}
