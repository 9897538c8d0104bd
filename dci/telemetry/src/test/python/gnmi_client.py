"""A gNMI client of Google's C core, which shares nothing with the project but gnmi.proto.

usage: gnmi_client.py FOLDER PORT METHOD PATH [CERTIFICATE KEY] AUTHORITIES

FOLDER contains protoc's output for gnmi.proto. METHOD is capabilities, once, poll or stream. PATH is elements with slashes between.
Answers are printed as lines of JSON, a refusal as one line with its status.
"""

import json
import sys
import threading

import grpc

folder, port, method, path = sys.argv[1:5]
files = sys.argv[5:]
sys.path.insert(0, folder)
import gnmi_pb2 as gnmi  # noqa: E402  protoc made it


def read(name):
    with open(name, "rb") as file:
        return file.read()


def credentials():
    if len(files) == 1:
        return grpc.ssl_channel_credentials(root_certificates=read(files[0]))
    certificate, key, authorities = files
    return grpc.ssl_channel_credentials(read(authorities), read(key), read(certificate))


def text(path):
    return "".join(
        "/" + each.name + "".join("[%s=%s]" % pair for pair in sorted(each.key.items())) for each in path.elem
    )


def value(typed):
    kind = typed.WhichOneof("value")
    raw = getattr(typed, kind)
    return json.loads(raw) if kind in ("json_val", "json_ietf_val") else raw


def tell(answer):
    if answer.HasField("update"):
        seen = answer.update
        for each in seen.update:
            print(json.dumps({"path": text(seen.prefix) + text(each.path), "value": value(each.val)}), flush=True)
    else:
        print(json.dumps({"sync": answer.sync_response}), flush=True)


def subscription():
    mode = {"once": gnmi.SubscriptionList.ONCE, "poll": gnmi.SubscriptionList.POLL, "stream": gnmi.SubscriptionList.STREAM}
    wanted = gnmi.SubscriptionList(mode=mode[method], encoding=gnmi.JSON_IETF)
    one = wanted.subscription.add(mode=gnmi.SAMPLE, sample_interval=100_000_000)
    for name in path.split("/"):
        one.path.elem.add(name=name)
    return gnmi.SubscribeRequest(subscribe=wanted)


def questions():
    yield subscription()
    if method == "poll":
        yield gnmi.SubscribeRequest(poll=gnmi.Poll())
    if method == "stream":
        # The stream would end with the last request.
        enough.wait()


enough = threading.Event()
options = [("grpc.ssl_target_name_override", "gw1")]
try:
    with grpc.secure_channel("[::1]:" + port, credentials(), options) as channel:
        if method == "capabilities":
            call = channel.unary_unary(
                "/gnmi.gNMI/Capabilities",
                request_serializer=gnmi.CapabilityRequest.SerializeToString,
                response_deserializer=gnmi.CapabilityResponse.FromString,
            )
            answer = call(gnmi.CapabilityRequest())
            print(json.dumps({"version": answer.gNMI_version, "models": [each.name for each in answer.supported_models]}))
        else:
            call = channel.stream_stream(
                "/gnmi.gNMI/Subscribe",
                request_serializer=gnmi.SubscribeRequest.SerializeToString,
                response_deserializer=gnmi.SubscribeResponse.FromString,
            )
            syncs = 0
            for answer in call(questions()):
                tell(answer)
                syncs += 1 if answer.sync_response else 0
                # A stream delivers samples after the initial state; one sample is enough.
                if method == "stream" and syncs and answer.HasField("update"):
                    break
            enough.set()
except grpc.RpcError as refused:
    print(json.dumps({"refused": refused.code().name, "why": refused.details()}))
    sys.exit(1)
