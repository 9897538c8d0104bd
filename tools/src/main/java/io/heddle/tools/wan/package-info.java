/**
 * {@code heddle demo --wan}: two data centres and a WAN of the kernel's own SRv6 routers in network
 * namespaces, with gateways, a controller and, if GoBGP is installed, a reflector as processes.
 */
@NullMarked
package io.heddle.tools.wan;

import org.jspecify.annotations.NullMarked;
