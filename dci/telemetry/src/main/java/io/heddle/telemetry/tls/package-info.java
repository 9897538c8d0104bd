/** Certificates of both ends: TLS 1.3 (RFC 8446), each end shows one and checks the other's. */
@NullMarked
package io.heddle.telemetry.tls;

import org.jspecify.annotations.NullMarked;
