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

/** Chooses the data plane that a configuration and a host have. */
final class DataPlanes {
  private DataPlanes() {}

  /** Why there is none, with the remedy. */
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

  /* A move that waits for a gap is asked of the program alone. */
  private static boolean isBpf(GatewayConfig config) {
    return switch (config.dataPlane()) {
      case BPF -> true;
      case NFTABLES -> false;
      case AUTO -> config.settings().gapNs() > 0 || BpfDataPlane.refusal().isEmpty();
    };
  }

  /**
   * Finds it at work in the calling thread's network namespace, or makes one that isn't yet.
   *
   * @param interfaces indexes of the LAN's
   * @throws HeddleException where the host has none
   */
  static DataPlane open(GatewayConfig config, List<Integer> interfaces, Log log) {
    if (isBpf(config)) {
      return BpfDataPlane.open(interfaces, config.priority());
    }
    if (config.dataPlane() == DataPlaneKind.AUTO) {
      log.info(
          "rules of nftables forward, since %s", BpfDataPlane.refusal().orElse("BPF isn't there"));
    }
    return NftDataPlane.open(interfaces, config.settings(), log);
  }

  /** Takes the other one off, which an earlier configuration had at work. */
  static void removeOther(GatewayConfig config, List<Integer> interfaces) {
    if (isBpf(config)) {
      removeNft(config);
    } else {
      removeBpf(config, interfaces);
    }
  }

  /** Takes both off. */
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
