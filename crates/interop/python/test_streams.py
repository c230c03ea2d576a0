"""Streams into pods by the WebSocket dialects of three Python clients: exec, port-forward, logs.

Run by crates/ferry/tests with KUBECONFIG set, on a cluster with the pod `shell`, which has a
busybox, and the pods of the Deployment `web`, which answer on port 8080 with their name.
"""

import asyncio
import os
import unittest
import urllib.request

import kr8s.asyncio
from kr8s.asyncio.objects import Pod
from kubernetes import client, config
from kubernetes.stream import portforward, stream
from kubernetes.stream.ws_client import ERROR_CHANNEL
from kubernetes_asyncio import client as async_client
from kubernetes_asyncio import config as async_config
from kubernetes_asyncio.stream import WsApiClient

PATIENCE = 60
GREETING = ["/bin/busybox", "sh", "-c", "echo out; echo err >&2; exit 3"]


def web_pod():
    """The name of one of the web servers."""
    return client.CoreV1Api().list_namespaced_pod("default", label_selector="app=web").items[0].metadata.name


def setUpModule():
    config.load_kube_config()


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.core = client.CoreV1Api()

    def run_shell(self, command, **options):
        """A connection to a command in the pod `shell`; with the GET that the Python client sends for both."""
        channels = {"stdin": True, "stdout": True, "stderr": True, "tty": False, **options}
        return stream(
            self.core.connect_get_namespaced_pod_exec, "shell", "default", command=command,
            _preload_content=False, **channels,
        )

    def test_exec_answers_with_all_of_its_output(self):
        said = stream(
            self.core.connect_get_namespaced_pod_exec, "shell", "default",
            command=["/bin/busybox", "seq", "1", "20000"], stdin=False, stdout=True, stderr=False, tty=False,
        )
        self.assertEqual(said.split(), [str(number) for number in range(1, 20001)])

    def test_exec_takes_text_and_binary_frames(self):
        for binary in [False, True]:
            convert = str.encode if binary else str
            with self.subTest(binary=binary):
                shell = self.run_shell(["/bin/busybox", "sh"], binary=binary)
                shell.write_stdin(convert("echo to the one\n"))
                self.assertEqual(shell.readline_stdout(timeout=PATIENCE), convert("to the one"))
                shell.write_stdin(convert("echo to the other >&2\n"))
                self.assertEqual(shell.readline_stderr(timeout=PATIENCE), convert("to the other"))
                self.assertFalse(shell.peek_stdout())
                shell.write_stdin(convert("exit 7\n"))
                shell.run_forever(timeout=PATIENCE)
                self.assertEqual(shell.returncode, 7)

    def test_a_closed_input_is_the_end_of_a_file(self):
        echo = self.run_shell(["/bin/busybox", "cat"])
        self.assertEqual(echo.subprotocol, "v5.channel.k8s.io")
        echo.write_stdin("all of it\n")
        self.assertEqual(echo.readline_stdout(timeout=PATIENCE), "all of it")
        echo.close_channel(0)
        echo.run_forever(timeout=PATIENCE)
        self.assertFalse(echo.is_open())
        self.assertEqual(echo.returncode, 0)

    def test_the_status_of_success_is_on_the_error_channel(self):
        done = self.run_shell(["/bin/busybox", "true"], stdin=False)
        done.run_forever(timeout=PATIENCE)
        self.assertIn('"status":"Success"', done.read_channel(ERROR_CHANNEL).replace(": ", ":"))

    def test_one_connection_forwards_several_ports(self):
        forward = portforward(
            self.core.connect_get_namespaced_pod_portforward, web_pod(), "default", ports="8080,8081"
        )
        refused = forward.socket(8081)
        refused.settimeout(PATIENCE)
        self.assertEqual(refused.recv(1024), b"")
        self.assertIsNotNone(forward.error(8081))
        answered = forward.socket(8080)
        answered.settimeout(PATIENCE)
        answered.sendall(b"GET / HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n")
        answer = b""
        while data := answered.recv(4096):
            answer += data
        self.assertIn(b"200 OK", answer)
        self.assertIn(b"web-", answer)
        self.assertIsNone(forward.error(8080))


class KubernetesAsyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        await async_config.load_kube_config()
        api = WsApiClient()
        self.addAsyncCleanup(api.close)
        self.core = async_client.CoreV1Api(api)

    async def test_exec(self):
        command = {"command": GREETING, "stdin": False, "stdout": True, "stderr": True, "tty": False}
        for connect in [self.core.connect_get_namespaced_pod_exec, self.core.connect_post_namespaced_pod_exec]:
            said = await connect("shell", "default", **command)
            self.assertEqual(sorted(said.split()), ["err", "out"])
        connection = await self.core.connect_get_namespaced_pod_exec(
            "shell", "default", _preload_content=False, **command
        )
        async with connection as socket:
            frames = [(message.data[0], message.data[1:]) async for message in socket]
        output = {channel: b"".join(data for at, data in frames if at == channel) for channel, _ in frames}
        self.assertEqual((output[1], output[2]), (b"out\n", b"err\n"))
        self.assertEqual(WsApiClient.parse_error_data(output[3].decode()), 3)


class Kr8s(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.api = await kr8s.asyncio.api(kubeconfig=os.environ["KUBECONFIG"])

    async def test_exec_waits_for_the_end_and_knows_the_exit_code(self):
        shell = await Pod.get("shell", namespace="default", api=self.api)
        done = await shell.exec(GREETING, check=False)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"out\n", b"err\n", 3))
        with self.assertRaises((kr8s.ExecError, ExceptionGroup)) as raised:
            await shell.exec(GREETING)
        # The WebSocket library groups what is raised while its connection is open.
        errors = getattr(raised.exception, "exceptions", (raised.exception,))
        self.assertIsInstance(errors[0], kr8s.ExecError)

    async def test_a_forwarded_port_answers_more_than_once(self):
        web = await Pod.get(web_pod(), namespace="default", api=self.api)
        async with web.portforward(remote_port=8080) as port:
            for _ in range(3):
                answer = await asyncio.to_thread(
                    lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE).read()
                )
                self.assertIn(web.name.encode(), answer)

    async def test_logs_are_followed_to_their_end(self):
        shell = await Pod.get("shell", namespace="default", api=self.api)
        self.assertEqual([line async for line in shell.logs(follow=False, tail_lines=1)], ["a line to read"])


if __name__ == "__main__":
    unittest.main()
