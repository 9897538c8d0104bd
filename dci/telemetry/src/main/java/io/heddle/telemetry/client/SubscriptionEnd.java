package io.heddle.telemetry.client;

import io.grpc.Status;
import java.net.ConnectException;
import java.security.cert.CertificateException;
import java.util.Locale;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Generator of messages that say why a subscription ended and what to do about it. */
final class SubscriptionEnd {
  private SubscriptionEnd() {}

  static String sentence(TelemetryTarget target, Status status) {
    String where = "%s (%s port %s)".formatted(target.name(), target.host(), target.port());
    Throwable cause = status.getCause();
    CertificateException certificate = find(cause, CertificateException.class);
    if (certificate != null) {
      return "%s presents a certificate that we don't trust: %s; compare it with the authorities of our configuration"
          .formatted(where, certificate.getMessage());
    }
    SSLException tls = find(cause, SSLException.class);
    if (tls != null) {
      String alert = String.valueOf(tls.getMessage());
      String lower = alert.toLowerCase(Locale.ROOT);
      return lower.contains("alert") && lower.contains("certificate")
          ? "%s rejects our certificate (%s); one of its authorities has to have signed ours"
              .formatted(where, alert)
          : "TLS 1.3 handshake with %s failed: %s".formatted(where, alert);
    }
    ConnectException refused = find(cause, ConnectException.class);
    if (refused != null) {
      return "%s can't be reached: %s; check that it runs and has telemetry in its configuration"
          .formatted(where, String.valueOf(root(refused).getMessage()));
    }
    String said = status.getDescription();
    return status.getCode() == Status.Code.UNAVAILABLE
        ? "connection to %s lost: %s".formatted(where, said)
        : "%s refuses the subscription: %s (%s)".formatted(where, said, status.getCode());
  }

  private static Throwable root(Throwable thrown) {
    Throwable at = thrown;
    while (at.getCause() != null) {
      at = at.getCause();
    }
    return at;
  }

  private static <T extends Throwable> @Nullable T find(@Nullable Throwable from, Class<T> type) {
    for (Throwable at = from; at != null; at = at.getCause()) {
      if (type.isInstance(at)) {
        return type.cast(at);
      }
    }
    return null;
  }
}
