package io.heddle.verbs;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import java.util.List;

/**
 * Source of RDMA devices. {@link java.util.ServiceLoader} finds the implementations; the transport
 * treats them alike.
 */
public interface VerbsProvider {
  /**
   * Returns the name by which HEDDLE_PROVIDER selects this provider: {@code libibverbs} or {@code
   * soft}.
   */
  String name();

  /**
   * Lists the devices that exist now, in a stable order.
   *
   * @param environment option values by name, as in the process's environment
   */
  List<RdmaDevice> devices(java.util.Map<String, String> environment, Log log, LeakLedger ledger);
}
