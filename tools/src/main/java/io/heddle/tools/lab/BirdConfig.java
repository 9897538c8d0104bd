package io.heddle.tools.lab;

import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;

/**
 * Configuration of BIRD as a spine, as a leaf of a leaf–spine fabric, and as the leaf of a plane
 * that is a network of its own.
 *
 * <p>Paths are deterministic: each prefix has one plane. A leaf announces the prefix to every spine
 * with the plane's colour, but with AIGP only to the plane's own spine. BIRD's best-path selection
 * honours AIGP, but {@code merge paths} does not. So routes with AIGP get a higher preference and
 * are never merged with others. When the plane's path is gone, the remaining routes have equal
 * preference and are merged.
 */
final class BirdConfig {
  private static final int COLOUR = 0x030b0000;
  private static final int PATH_BANDWIDTH = 0x0180;

  private final FabricTopology topology;
  private final FabricPlan plan;
  private final Path folder;

  BirdConfig(FabricTopology topology, Path folder) {
    this.topology = topology;
    this.plan = topology.plan();
    this.folder = folder;
  }

  /**
   * Returns the configuration of a router.
   *
   * @param unreachable addresses that the router announces as unreachable; ignored in a leaf–spine
   *     fabric
   */
  String of(Node router, Collection<String> unreachable) {
    if (router.role() == Role.SPINE) {
      return spine(router);
    }
    if (router.role() == Role.CORE) {
      return core(router, unreachable);
    }
    return plan.shape() == FabricShape.PLANES ? planeLeaf(router, unreachable) : leaf(router);
  }

  private String head(Node router) {
    return """
    log "%s" { info, warning, error, fatal, bug, auth, remote };
    router id %s;
    protocol device { scan time 10; }
    """
        .formatted(folder.resolve(router.name() + ".log"), FabricTopology.routerId(router));
  }

  /*
   * Router advertisements for hosts. The min delay is set, since with its default of 3 s hosts get
   * their addresses 2 s later.
   */
  private static final String ADVERTISE =
      """
      protocol radv {
        interface "h*" {
          min ra interval 3; max ra interval 10; min delay 1; default lifetime 1800;
          prefix ::/0 { valid lifetime 86400; preferred lifetime 43200; };
        };
      }
      """;

  private static String community(int high, int low) {
    return String.format(
        Locale.ROOT, "bgp_ext_community.add((generic, 0x%08x, 0x%08x));", high, low);
  }

  private static String colour(int plane) {
    return community(COLOUR, plane);
  }

  /*
   * Returns the statement that adds a path bandwidth: community 01 80 with the router ID and whole
   * Gbit/s.
   */
  static String pathBandwidth(Node router, int gbps) {
    String[] id = FabricTopology.routerId(router).split("\\.");
    int high = Integer.parseInt(id[0]) << 8 | Integer.parseInt(id[1]);
    int low = Integer.parseInt(id[2]) << 8 | Integer.parseInt(id[3]);
    return community(PATH_BANDWIDTH << 16 | high, low << 16 | gbps);
  }

  private String bfdSession() {
    return plan.bfdMs() == 0 ? "" : "bfd { interval " + plan.bfdMs() + " ms; multiplier 3; };";
  }

  private String bfdProtocol(String pattern) {
    return plan.bfdMs() == 0
        ? ""
        : "protocol bfd { interface \""
            + pattern
            + "\" { interval "
            + plan.bfdMs()
            + " ms; multiplier 3; }; }\n";
  }

  private String leaf(Node leaf) {
    StringBuilder text = new StringBuilder(head(leaf));
    text.append(
        """
        protocol kernel {
          merge paths on limit %s;
          ipv6 { import none; export where source = RTS_BGP && net.len <= 64; };
        }
        """
            .formatted(Math.max(plan.planes(), 2)));
    text.append(ADVERTISE);
    text.append("protocol static own {\n  ipv6 { preference 50; };\n");
    for (Link port : topology.portsOf(leaf)) {
      for (int plane : topology.planesOf(port)) {
        text.append("  route ")
            .append(topology.prefix(port.far().node(), plane))
            .append(" unreachable { ")
            .append(colour(plane))
            .append(' ')
            .append(pathBandwidth(leaf, plan.bandwidth(plane)))
            .append(" };\n");
      }
    }
    text.append("}\n");
    for (Link port : topology.portsOf(leaf)) {
      text.append(hostSession(leaf, port, "net.len <= 64 && source ~ [RTS_BGP, RTS_STATIC]"));
    }
    text.append(bfdProtocol("s*"));
    for (Link trunk : topology.trunksOf(leaf)) {
      text.append(trunkAtLeaf(leaf, trunk));
    }
    return text.toString();
  }

  /*
   * Returns the BGP session with hosts at a port. A host may announce its own addresses. BIRD keeps
   * these routes, but neither forwards by them nor propagates them, since the leaf has the subnets.
   */
  private String hostSession(Node leaf, Link port, String exported) {
    String name = port.leaf().interfaceName();
    return """
    protocol bgp hosts_%s {
      local as %s; neighbor range fe80::/10 external; interface "%s"; dynamic name "%s_";
      passive; hold time %s; check link yes;
      ipv6 { import where net.len = 128; next hop self; aigp; export where %s; };
    }
    """
        .formatted(name, FabricTopology.leafAs(leaf), name, name, plan.holdSeconds(), exported);
  }

  /*
   * Returns the leaf's BGP session with a spine. The leaf opens the connection; spines accept any
   * peer on a link.
   */
  private String trunkAtLeaf(Node leaf, Link trunk) {
    String name = trunk.leaf().interfaceName();
    StringBuilder ownPrefixes = new StringBuilder();
    for (Link port : topology.portsOf(leaf)) {
      ownPrefixes
          .append(ownPrefixes.isEmpty() ? "" : ", ")
          .append(topology.prefix(port.far().node(), trunk.plane()));
    }
    String originate =
        ownPrefixes.isEmpty() ? "" : "if net ~ [ " + ownPrefixes + " ] then igp_metric = 0;";
    return """
    protocol bgp up_%s {
      local fe80::1 as %s; neighbor fe80::2 as %s; interface "%s"; direct;
      hold time %s; check link yes;
      connect retry time 1; connect delay time 1; error wait time 1,2; error forget time 1;
      %s
      ipv6 {
        next hop self; aigp originate; cost 1;
        import filter { if defined(bgp_aigp) then preference = 150; accept; };
        export filter {
          if source != RTS_STATIC then reject;
          %s
          accept;
        };
      };
    }
    """
        .formatted(
            name,
            FabricTopology.leafAs(leaf),
            FabricTopology.spineAs(trunk.far().node()),
            name,
            plan.holdSeconds(),
            bfdSession(),
            originate);
  }

  private String spine(Node spine) {
    StringBuilder text = new StringBuilder(head(spine));
    text.append("protocol kernel { ipv6 { import none; export where source = RTS_BGP; }; }\n");
    text.append(bfdProtocol("l*"));
    for (Link trunk : topology.trunksOf(spine)) {
      if (topology.isFrr(trunk.leaf().node())) {
        /* FRR starts its session by interface only after it has received a router advertisement. */
        text.append(
            "protocol radv { interface \"%s\" { max ra interval 10; default lifetime 0; }; }\n"
                .formatted(trunk.far().interfaceName()));
      }
    }
    for (Link trunk : topology.trunksOf(spine)) {
      text.append(trunkAtSpine(spine, trunk));
    }
    return text.toString();
  }

  /*
   * Returns the spine's BGP session with a leaf. With several links to a leaf, the spine sends AIGP
   * only on the link whose colour the route has.
   */
  private String trunkAtSpine(Node spine, Link trunk) {
    String name = trunk.far().interfaceName();
    String ownColour =
        plan.links() == 1
            ? ""
            : String.format(
                Locale.ROOT,
                "if ! (bgp_ext_community ~ [(generic, 0x%08x, %d)]) then { unset(bgp_aigp); %s }",
                COLOUR,
                trunk.plane(),
                /*
                 * Routes from FRR have no AIGP. So a longer AS path makes the routes over the other
                 * links less preferred.
                 */
                plan.frr() ? "bgp_path.prepend(" + FabricTopology.spineAs(spine) + ");" : "");
    return """
    protocol bgp down_%s {
      local as %s; neighbor range fe80::/10 external; interface "%s"; dynamic name "%s_";
      passive; hold time %s; check link yes; error wait time 1,2; error forget time 1;
      %s
      ipv6 {
        next hop self; aigp; cost 1;
        import filter { %s accept; };
        export filter {
          if source != RTS_BGP then reject;
          %s
          accept;
        };
      };
    }
    """
        .formatted(
            name,
            FabricTopology.spineAs(spine),
            name,
            name,
            plan.holdSeconds(),
            bfdSession(),
            topology.isFrr(trunk.leaf().node())
                ? colourAndBandwidth(spine, trunk.leaf().node())
                : "",
            ownColour);
  }

  /*
   * Returns the statements that add colour and path bandwidth to the prefixes of an FRR leaf, since
   * FRR can set neither.
   */
  private String colourAndBandwidth(Node spine, Node leaf) {
    StringBuilder text = new StringBuilder();
    for (Link port : topology.portsOf(leaf)) {
      for (int plane : topology.planesOf(port)) {
        text.append("if net = ")
            .append(topology.prefix(port.far().node(), plane))
            .append(" then { ")
            .append(colour(plane))
            .append(' ')
            .append(pathBandwidth(spine, plan.bandwidth(plane)))
            .append(" }\n");
      }
    }
    return text.toString();
  }

  private String planeLeaf(Node leaf, Collection<String> unreachable) {
    StringBuilder text = new StringBuilder(head(leaf));
    text.append(ADVERTISE);
    text.append(planeRoutes(leaf, unreachable));
    for (Link port : topology.portsOf(leaf)) {
      text.append(hostSession(leaf, port, "source = RTS_STATIC"));
    }
    return text.toString();
  }

  private String core(Node core, Collection<String> unreachable) {
    Node leaf = new Node(Role.LEAF, plan.leaves());
    return head(core)
        + planeRoutes(core, unreachable)
        + """
        protocol bgp down_%s {
          local %s as %s; neighbor %s as %s; direct; hold time %s; check link yes;
          connect retry time 1; connect delay time 1; error wait time 1,2; error forget time 1;
          ipv6 { import none; next hop self; export where source = RTS_STATIC; };
        }
        """
            .formatted(
                leaf.name(),
                FrrConfig.CORE_ADDRESS,
                FabricTopology.coreAs(core),
                FrrConfig.LEAF_ADDRESS,
                FabricTopology.leafAs(leaf),
                plan.holdSeconds());
  }

  private String planeRoutes(Node router, Collection<String> unreachable) {
    int plane = topology.announcedPlane(router);
    StringBuilder text = new StringBuilder();
    text.append("protocol static own {\n  ipv6;\n  route ")
        .append(FabricTopology.aggregate(plane))
        .append(" unreachable { ")
        .append(colour(plane))
        .append(' ')
        .append(pathBandwidth(router, plan.bandwidth(plane)))
        .append(" };\n");
    for (String address : unreachable) {
      text.append("  route ")
          .append(address)
          .append("/128 unreachable { ")
          .append(colour(plane))
          .append(' ')
          .append(pathBandwidth(router, 0))
          .append(" };\n");
    }
    text.append("}\n");
    return text.toString();
  }
}
