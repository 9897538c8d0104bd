package io.heddle.verbs;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import java.util.List;

/**
 * A source of RDMA devices. Implementations are found by {@link java.util.ServiceLoader}; the
 * transport can't tell which one it has.
 */
public interface VerbsProvider {
  /** The name users give in HEDDLE_PROVIDER: {@code libibverbs} or {@code soft}. */
  String name();

  /**
   * The devices that exist now, in a stable order; empty where there are none.
   *
   * @param environment option values by name, as in the process's environment
   */
  List<RdmaDevice> devices(java.util.Map<String, String> environment, Log log, LeakLedger ledger);
}
