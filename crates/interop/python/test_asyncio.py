"""The Python client `kubernetes_asyncio` on aiohttp: typed, dynamic, watches and patches.

Run by crates/interop/tests with KUBECONFIG set; each test has a namespace of its own.
"""

import asyncio
import json
import unittest
import uuid

from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.client.exceptions import ApiException
from kubernetes_asyncio.dynamic import DynamicClient

PATIENCE = 60


def config_map(name, labels=None, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


class Case(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        await config.load_kube_config()
        self.api = client.ApiClient()
        self.addAsyncCleanup(self.api.close)
        self.core = client.CoreV1Api(self.api)
        self.namespace = "t-" + uuid.uuid4().hex[:8]
        await self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))

    async def refused(self, code, reason, call):
        with self.assertRaises(ApiException) as caught:
            await call
        status = json.loads(caught.exception.body)
        self.assertEqual((caught.exception.status, status["reason"]), (code, reason), status)
        return status


class Typed(Case):
    async def test_many_requests_at_once_share_connections(self):
        names = [f"a-{number:02}" for number in range(40)]
        create = self.core.create_namespaced_config_map
        made = await asyncio.gather(*(create(self.namespace, config_map(name, k=name)) for name in names))
        self.assertEqual([one.data["k"] for one in made], names)
        versions = {one.metadata.resource_version for one in made}
        self.assertEqual(len(versions), len(names), "each write has a version of its own")
        read = self.core.read_namespaced_config_map
        again = await asyncio.gather(*(read(name, self.namespace) for name in names))
        self.assertEqual(again, made)

    async def test_every_kind_of_patch(self):
        ports = [client.V1ServicePort(name="http", port=80), client.V1ServicePort(name="admin", port=81)]
        service = client.V1Service(metadata=client.V1ObjectMeta(name="web"), spec=client.V1ServiceSpec(ports=ports))
        await self.core.create_namespaced_service(self.namespace, service)

        async def patch(body, content_type):
            patched = await self.core.patch_namespaced_service(
                "web", self.namespace, body, _content_type=f"application/{content_type}"
            )
            return [(port.name, port.port) for port in patched.spec.ports]

        body = {"spec": {"ports": [{"name": "metrics", "port": 82}]}}
        ports = await patch(body, "strategic-merge-patch+json")
        self.assertEqual(sorted(ports), [("admin", 81), ("http", 80), ("metrics", 82)])
        self.assertEqual(await patch(body, "merge-patch+json"), [("metrics", 82)])
        steps = [
            {"op": "test", "path": "/spec/ports/0/port", "value": 82},
            {"op": "add", "path": "/spec/ports/-", "value": {"name": "http", "port": 80}},
        ]
        self.assertEqual(await patch(steps, "json-patch+json"), [("metrics", 82), ("http", 80)])
        steps[0]["value"] = 83
        await self.refused(422, "Invalid", patch(steps, "json-patch+json"))
        applied = {
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
            "spec": {"ports": [{"name": "https", "port": 443}]},
        }
        apply = self.core.patch_namespaced_service(
            "web", self.namespace, applied, field_manager="test", _content_type="application/apply-patch+yaml"
        )
        self.assertIn(("https", 443), [(port.name, port.port) for port in (await apply).spec.ports])

    async def test_a_watch_goes_on_where_the_list_ended(self):
        create = self.core.create_namespaced_config_map
        await create(self.namespace, config_map("before", {"set": "watched"}))
        listed = await self.core.list_namespaced_config_map(self.namespace, label_selector="set=watched")
        self.assertEqual([one.metadata.name for one in listed.items], ["before"])

        async def follow():
            seen = []
            async with watch.Watch().stream(
                self.core.list_namespaced_config_map, self.namespace, label_selector="set=watched",
                resource_version=listed.metadata.resource_version,
            ) as events:
                async for event in events:
                    self.assertIsInstance(event["object"], client.V1ConfigMap)
                    seen.append((event["type"], event["object"].metadata.name))
                    if event["type"] == "DELETED":
                        return seen

        following = asyncio.create_task(follow())
        await create(self.namespace, config_map("after", {"set": "watched"}))
        await create(self.namespace, config_map("unseen", {"set": "other"}))
        await self.core.patch_namespaced_config_map(
            "after", self.namespace, {"data": {"k": "v"}}, _content_type="application/merge-patch+json"
        )
        await self.core.delete_namespaced_config_map("after", self.namespace)
        seen = await asyncio.wait_for(following, PATIENCE)
        self.assertEqual(seen, [("ADDED", "after"), ("MODIFIED", "after"), ("DELETED", "after")])

    async def test_a_watch_ends_when_its_time_is_over(self):
        async with watch.Watch().stream(
            self.core.list_namespaced_config_map, self.namespace, label_selector="set=none", timeout_seconds=1
        ) as events:
            seen = [event["type"] async for event in events]
        self.assertEqual(seen, [])

    async def test_errors_say_what_is_wrong(self):
        status = await self.refused(404, "NotFound", self.core.read_namespaced_config_map("none", self.namespace))
        self.assertEqual(status["details"], {"name": "none", "kind": "configmaps"})
        wrong = client.V1ServiceSpec(ports=[client.V1ServicePort(port=70000)])
        service = client.V1Service(metadata=client.V1ObjectMeta(name="web"), spec=wrong)
        status = await self.refused(422, "Invalid", self.core.create_namespaced_service(self.namespace, service))
        self.assertEqual(status["details"]["causes"][0]["field"], "spec.ports[0].port")


class Dynamic(Case):
    async def test_custom_resources_are_found_and_applied(self):
        dynamic = await DynamicClient(self.api)
        group, plural = f"{self.namespace}.example.com", "lamps"
        schema = {"type": "object", "properties": {"spec": {
            "type": "object", "properties": {"watts": {"type": "integer", "maximum": 100}}}}}
        definitions = await dynamic.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
        await definitions.create(body={
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": "lamp", "kind": "Lamp"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        })

        async def established():
            while True:
                found = await definitions.get(name=f"{plural}.{group}")
                conditions = (found.to_dict().get("status") or {}).get("conditions") or []
                if any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
                    return
                await asyncio.sleep(0.05)

        await asyncio.wait_for(established(), PATIENCE)
        # Discovery is kept on disk by this client; a new one looks again.
        dynamic = await DynamicClient(self.api)
        await dynamic.resources.invalidate_cache()
        lamps = await dynamic.resources.get(api_version=f"{group}/v1", kind="Lamp")
        lamp = {"apiVersion": f"{group}/v1", "kind": "Lamp", "metadata": {"name": "desk"}, "spec": {"watts": 40}}
        made = await lamps.server_side_apply(
            body=lamp, name="desk", namespace=self.namespace, field_manager="test"
        )
        self.assertEqual((made.spec.watts, made.metadata.generation), (40, 1))
        lamp["spec"]["watts"] = 60
        changed = await lamps.server_side_apply(
            body=lamp, name="desk", namespace=self.namespace, field_manager="test"
        )
        self.assertEqual((changed.spec.watts, changed.metadata.generation), (60, 2))
        lamp["spec"]["watts"] = 200
        # The dynamic client hands over a failure as it hands over any object.
        status = await lamps.server_side_apply(
            body=lamp, name="desk", namespace=self.namespace, field_manager="test"
        )
        self.assertEqual((status.kind, status.code, status.reason), ("Status", 422, "Invalid"))
        self.assertIn("spec.watts", status.message)
        listed = await lamps.get(namespace=self.namespace)
        self.assertEqual([item.metadata.name for item in listed.items], ["desk"])
        await lamps.delete(name="desk", namespace=self.namespace)
        self.assertEqual((await lamps.get(namespace=self.namespace)).items, [])


if __name__ == "__main__":
    unittest.main()
