/**
 * The kernel's part of a gateway, by rtnetlink: a rule and a table for each segment list, its SRv6
 * encapsulation (RFC 8986, H.Encaps), and the routes to first segments.
 */
@NullMarked
package io.heddle.dataplane.route;

import org.jspecify.annotations.NullMarked;
