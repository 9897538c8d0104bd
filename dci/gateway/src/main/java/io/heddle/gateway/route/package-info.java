/**
 * Routes of a gateway in the kernel, set by rtnetlink: a rule and a routing table for each segment
 * list, with the list's SRv6 encapsulation (RFC 8986, H.Encaps), and routes to the lists' first
 * segments.
 */
@NullMarked
package io.heddle.gateway.route;

import org.jspecify.annotations.NullMarked;
