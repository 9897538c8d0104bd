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

  /** Returns the reason why no data plane can be used, with the remedy; empty if one can. */
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

  /* Returns whether the BPF program is used. Only it can delay a move between lists until a gap. */
  private static boolean isBpf(GatewayConfig config) {
    return switch (config.dataPlane()) {
      case BPF -> true;
      case NFTABLES -> false;
      case AUTO -> config.settings().gapNs() > 0 || BpfDataPlane.refusal().isEmpty();
    };
  }

  /**
   * Adopts the data plane that already runs in the calling thread's network namespace, or creates
   * one.
   *
   * @param interfaces indexes of the LAN's interfaces
   * @throws HeddleException if the host supports no data plane
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

  /**
   * Removes the data plane of the kind that isn't used: an earlier configuration may have installed
   * it.
   */
  static void removeOther(GatewayConfig config, List<Integer> interfaces) {
    if (isBpf(config)) {
      removeNft(config);
    } else {
      removeBpf(config, interfaces);
    }
  }

  /** Removes the BPF program and the nftables table, whichever exist. */
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
