package io.heddle.gateway.config;

/** Which data plane forwards. */
public enum DataPlaneKind {
  /** The BPF program where this build and host have it, nftables otherwise. */
  AUTO,
  /** The BPF program alone. */
  BPF,
  /** Rules of nftables. */
  NFTABLES
}
