/**
 * {@code heddle demo --wan}: two data centres and a WAN of SRv6 routers in network namespaces,
 * whose data plane is the kernel's. Gateways, a controller and, if GoBGP is installed, a route
 * reflector run as processes.
 */
@NullMarked
package io.heddle.tools.wan;

import org.jspecify.annotations.NullMarked;
