package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Map;

/** A fabric as configured. */
public sealed interface FabricSpec permits WireSpec, VerbsSpec {
  /** Of the fabric: a or b. */
  String name();

  /** The interface or device that leads there. */
  String end();

  /** Own addresses to use, IPv4 mapped; empty for all that the end has. */
  List<Gid> addresses();

  /** Time to live of what is sent, 1 to 255. */
  int hops();

  /** Whether both lead there by the same interface or device. */
  boolean isSameEnd(FabricSpec other);

  /** What can't change while the bridge runs, by its key. */
  Map<String, Object> fixed();
}
