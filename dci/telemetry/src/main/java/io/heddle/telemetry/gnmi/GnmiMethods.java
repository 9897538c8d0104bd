package io.heddle.telemetry.gnmi;

import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import io.heddle.telemetry.proto.CapabilityRequest;
import io.heddle.telemetry.proto.CapabilityResponse;
import io.heddle.telemetry.proto.SubscribeRequest;
import io.heddle.telemetry.proto.SubscribeResponse;

/** Supported methods of the service gnmi.gNMI. */
public final class GnmiMethods {
  /** Shortest sample interval that a gateway accepts. */
  public static final long LEAST_INTERVAL_NS = 50_000_000;

  public static final String SERVICE = "gnmi.gNMI";

  /** Version of the gNMI specification. */
  public static final String VERSION = "0.8.0";

  public static final MethodDescriptor<CapabilityRequest, CapabilityResponse> CAPABILITIES =
      MethodDescriptor.<CapabilityRequest, CapabilityResponse>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Capabilities"))
          .setRequestMarshaller(ProtoUtils.marshaller(CapabilityRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(CapabilityResponse.getDefaultInstance()))
          .build();

  public static final MethodDescriptor<SubscribeRequest, SubscribeResponse> SUBSCRIBE =
      MethodDescriptor.<SubscribeRequest, SubscribeResponse>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Subscribe"))
          .setRequestMarshaller(ProtoUtils.marshaller(SubscribeRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(SubscribeResponse.getDefaultInstance()))
          .build();

  private GnmiMethods() {}
}
