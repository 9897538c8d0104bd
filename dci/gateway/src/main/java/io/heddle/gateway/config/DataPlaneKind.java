package io.heddle.gateway.config;

/** Kind of data plane that the configuration selects. */
public enum DataPlaneKind {
  /** The BPF program if this build and host support it, otherwise nftables. */
  AUTO,
  /** Only the BPF program. */
  BPF,
  /** Only rules of nftables. */
  NFTABLES
}
