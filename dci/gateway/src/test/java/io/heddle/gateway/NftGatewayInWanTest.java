package io.heddle.gateway;

import io.heddle.dataplane.FlowHash;
import io.heddle.dataplane.nft.NftDataPlane;
import io.heddle.dataplane.nft.NftHash;
import java.net.InetAddress;
import java.util.Optional;

/** Tests of a gateway with rules of nftables, as on hosts without BPF. */
final class NftGatewayInWanTest extends GatewayInWan {
  NftGatewayInWanTest() {
    super("nftables");
  }

  @Override
  Optional<String> refusal() {
    return NftDataPlane.refusal();
  }

  @Override
  int hash(InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    return NftHash.ofQueuePair(source, destination, sourcePort, queuePair, seed);
  }

  @Override
  int hashOfOther(InetAddress source, InetAddress destination, int sourcePort, int port, int seed) {
    return NftHash.of(source, destination, sourcePort, port, FlowHash.UDP, seed);
  }
}
