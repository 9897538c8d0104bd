package io.heddle.telemetry.tls;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLException;

/**
 * Files in PEM.
 *
 * @param certificate our own, with what leads to its authority
 * @param key the certificate's, PKCS #8 and not encrypted
 * @param authorities whose certificates are taken from the other end
 */
public record TlsFiles(Path certificate, Path key, Path authorities) {
  private static final String TLS_1_3 = "TLSv1.3";

  /**
   * The server's side: no client without a certificate of our authorities.
   *
   * @throws HeddleException that names the file that doesn't serve, and why
   */
  public SslContext server() {
    check();
    try {
      return configured(
          SslContextBuilder.forServer(certificate.toFile(), key.toFile())
              .trustManager(authorities.toFile())
              .clientAuth(ClientAuth.REQUIRE));
    } catch (SSLException | IllegalArgumentException unfit) {
      throw unfit(unfit);
    }
  }

  /**
   * The client's side.
   *
   * @throws HeddleException that names the file that doesn't serve, and why
   */
  public SslContext client() {
    check();
    try {
      return configured(
          SslContextBuilder.forClient()
              .keyManager(certificate.toFile(), key.toFile())
              .trustManager(authorities.toFile()));
    } catch (SSLException | IllegalArgumentException unfit) {
      throw unfit(unfit);
    }
  }

  /* Java's own TLS: the other provider is a native library of some megabytes. */
  private static SslContext configured(SslContextBuilder builder) throws SSLException {
    return GrpcSslContexts.configure(builder, SslProvider.JDK).protocols(TLS_1_3).build();
  }

  private void check() {
    for (Path each : new Path[] {certificate, authorities}) {
      try (InputStream in = Files.newInputStream(each)) {
        for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
          one.getPublicKey();
        }
      } catch (IOException unreadable) {
        throw new HeddleException(
            "%s can't be read: %s".formatted(each, FileFailure.reason(unreadable)), unreadable);
      } catch (GeneralSecurityException malformed) {
        throw new HeddleException(
            "%s holds no certificate in PEM: %s".formatted(each, malformed.getMessage()),
            malformed);
      }
    }
    if (!Files.isReadable(key)) {
      throw new HeddleException(key + " can't be read; name the certificate's private key");
    }
  }

  private HeddleException unfit(Exception why) {
    return new HeddleException(
        "%s and %s don't serve as certificate and key: %s; the key has to be PKCS #8, not encrypted"
            .formatted(certificate, key, why.getMessage()),
        why);
  }
}
