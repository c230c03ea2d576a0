"""exec, logs and port-forward by the Python client, which streams over WebSocket with text
frames and v4.channel.k8s.io. Run by crates/ferry/tests/dialects.rs; the pod is the argument."""

import sys

import websocket
from kubernetes import client, config
from kubernetes.client.rest import ApiException
from kubernetes.stream import portforward, stream

POD = sys.argv[1]
config.load_kube_config()
core = client.CoreV1Api()


def run(*command):
    socket = stream(
        core.connect_get_namespaced_pod_exec, POD, "default", command=list(command),
        stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False,
    )
    socket.write_stdin("some text\n")
    socket.run_forever(timeout=60)
    return socket.read_stdout(), socket.returncode


assert run("/applets", "exit", "0", "hello") == ("hello\n", 0)
assert run("/applets", "exit", "7", "bye") == ("bye\n", 7)

# One connection through a forwarded port, and two ports in one request.
for ports in ["8080", "8080,8081"]:
    forward = portforward(core.connect_get_namespaced_pod_portforward, POD, "default", ports=ports)
    http = forward.socket(8080)
    http.settimeout(30)
    http.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = b""
    while chunk := http.recv(4096):
        answer += chunk
    assert answer.startswith(b"HTTP/1.1 200") and POD.encode() in answer, answer
    assert forward.error(8080) is None, forward.error(8080)
    forward.close()

# A port that nobody listens on is told on its error channel.
forward = portforward(core.connect_get_namespaced_pod_portforward, POD, "default", ports="9")
dead = forward.socket(9)
dead.settimeout(30)
try:
    dead.sendall(b"?")
    assert dead.recv(1) == b""
except (BrokenPipeError, ConnectionResetError):
    pass  # The client closed its end before it had read the byte, which ends the socket as well.
assert "error forwarding port 9" in forward.error(9), forward.error(9)

# A log over WebSocket, as browsers read it.
host, certificates = core.api_client.configuration.host, core.api_client.configuration
socket = websocket.create_connection(
    f"{host.replace('https', 'wss')}/api/v1/namespaces/default/pods/{POD}/log",
    subprotocols=["binary.k8s.io"], timeout=30,
    sslopt={"ca_certs": certificates.ssl_ca_cert, "certfile": certificates.cert_file, "keyfile": certificates.key_file},
)
log = b""
while socket.connected:
    opcode, data = socket.recv_data()
    if opcode == websocket.ABNF.OPCODE_CLOSE:
        break
    log += data
assert b"listens on port 8080" in log, log

# And what is refused is refused with a reason.
try:
    portforward(core.connect_get_namespaced_pod_portforward, POD, "default", ports="http")
    raise AssertionError("a name is no port")
except (ApiException, ValueError):
    pass
print("all dialects are understood")
