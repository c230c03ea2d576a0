"""The Python client `kr8s`: objects that refresh, wait, patch, label and watch by themselves.

Run by crates/interop/tests with KUBECONFIG set; each test has a namespace of its own.
"""

import asyncio
import os
import unittest
import uuid

import kr8s.asyncio
from kr8s.asyncio.objects import APIObject, ConfigMap, Deployment, Namespace, Pod, ServiceAccount, new_class

PATIENCE = 60


class Case(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.api = await kr8s.asyncio.api(kubeconfig=os.environ["KUBECONFIG"])
        self.namespace = "t-" + uuid.uuid4().hex[:8]
        await (await Namespace({"metadata": {"name": self.namespace}}, api=self.api)).create()

    async def make(self, kind, name, **fields):
        labels = fields.pop("labels", {})
        metadata = {"name": name, "namespace": self.namespace, "labels": labels}
        made = await kind({"metadata": metadata, **fields}, api=self.api)
        await made.create()
        return made

    async def pod(self, name="p"):
        # Of a scheduler that does not exist, so that its status is the test's alone.
        await self.make(ServiceAccount, "own")
        containers = [{"name": "c", "image": "none:1"}]
        spec = {"schedulerName": "nobody", "serviceAccountName": "own", "containers": containers}
        return await self.make(Pod, name, spec=spec)


class Objects(Case):
    async def test_an_object_lives_from_create_to_delete(self):
        made = await self.make(ConfigMap, "a", data={"k": "v"})
        self.assertTrue(await made.exists())
        self.assertTrue(made.metadata.uid)
        await made.patch({"data": {"k": "w"}})
        self.assertEqual(made.data.k, "w")
        steps = [{"op": "replace", "path": "/data/k", "value": "x"}]
        await made.patch(steps, type="json")
        await made.label(tier="front")
        await made.annotate({"example.com/note": "read"})
        found = await ConfigMap.get("a", namespace=self.namespace, api=self.api)
        self.assertEqual((found.data.k, found.labels.tier), ("x", "front"))
        self.assertEqual(found.annotations["example.com/note"], "read")
        await made.label("tier-")
        self.assertNotIn("tier", (await ConfigMap.get("a", namespace=self.namespace, api=self.api)).labels)
        await made.delete()
        self.assertFalse(await made.exists())
        with self.assertRaises(kr8s.NotFoundError):
            await ConfigMap.get("a", namespace=self.namespace, api=self.api)

    async def test_a_list_obeys_its_selectors(self):
        for name, tier in [("a", "front"), ("b", "front"), ("c", "back")]:
            await self.make(ConfigMap, name, labels={"tier": tier}, data={})

        async def names(**selectors):
            found = kr8s.asyncio.get("configmaps", namespace=self.namespace, api=self.api, **selectors)
            return sorted([one.name async for one in found])

        self.assertEqual(await names(label_selector={"tier": "front"}), ["a", "b"])
        self.assertEqual(await names(label_selector="tier in (back, none)"), ["c"])
        self.assertEqual(await names(field_selector={"metadata.name": "b"}), ["b"])

    async def test_a_deployment_is_scaled_by_its_subresource(self):
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "none:1"}]}}
        web = await self.make(
            Deployment, "web", spec={"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        )
        # No controller runs here to report replicas: the wish alone is looked at.
        await web.patch({"spec": {"replicas": 3}}, subresource="scale")
        await web.refresh()
        self.assertEqual((web.replicas, web.metadata.generation), (3, 2))

    async def test_waits_end_when_the_condition_holds(self):
        pod = await self.pod()
        waiting = [
            asyncio.create_task(pod.wait("condition=Ready", timeout=PATIENCE)),
            asyncio.create_task(pod.wait("jsonpath='{.status.phase}'=Running", timeout=PATIENCE)),
        ]
        writer = await Pod.get("p", namespace=self.namespace, api=self.api)
        conditions = [{"type": kind, "status": "True"} for kind in ["Ready", "ContainersReady"]]
        await writer.patch({"status": {"phase": "Running", "conditions": conditions}}, subresource="status")
        await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE)
        self.assertTrue(await pod.ready())
        going = asyncio.create_task(pod.wait("delete", timeout=PATIENCE))
        await writer.delete(grace_period=0)
        await asyncio.wait_for(going, PATIENCE)
        self.assertFalse(await pod.exists())

    async def test_a_watch_passes_on_every_change(self):
        made = await self.make(ConfigMap, "a", labels={"set": "watched"}, data={})

        async def follow():
            seen = []
            watching = kr8s.asyncio.watch("configmaps", namespace=self.namespace, label_selector="set=watched", api=self.api)
            async for event, found in watching:
                seen.append((event, found.name, found.raw.get("data", {}).get("k")))
                if event == "ADDED":
                    started.set()
                if event == "DELETED":
                    return seen

        started = asyncio.Event()
        following = asyncio.create_task(follow())
        await asyncio.wait_for(started.wait(), PATIENCE)
        await made.patch({"data": {"k": "v"}})
        await made.delete()
        seen = await asyncio.wait_for(following, PATIENCE)
        self.assertEqual(seen, [("ADDED", "a", None), ("MODIFIED", "a", "v"), ("DELETED", "a", "v")])

    async def test_everything_discovered_can_be_looked_up(self):
        resources = await self.api.api_resources()
        kinds = {(resource["version"], resource["kind"]) for resource in resources}
        self.assertLessEqual({("v1", "Pod"), ("apps/v1", "Deployment"), ("batch/v1", "Job")}, kinds)
        _, plural, namespaced = await self.api.lookup_kind("deploy")
        self.assertEqual((plural, namespaced), ("deployments", True))
        with self.assertRaises(ValueError):
            await self.api.lookup_kind("no-such-kind")


class Custom(Case):
    async def test_a_class_of_ones_own_for_a_custom_resource(self):
        group = f"{self.namespace}.example.com"
        schema = {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"colour": {"type": "string"}, "replicas": {"type": "integer"}}}}}
        definition = await kr8s.asyncio.objects.CustomResourceDefinition({
            "metadata": {"name": f"shirts.{group}"},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"plural": "shirts", "singular": "shirt", "kind": "Shirt"},
                "versions": [{
                    "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                    "selectableFields": [{"jsonPath": ".spec.colour"}],
                }],
            },
        }, api=self.api)
        await definition.create()
        # Its conditions are null until there is one, as upstream's are; kr8s' wait expects a list.
        async with asyncio.timeout(PATIENCE):
            while not definition.status.conditions:
                await definition.refresh()
        await definition.wait("condition=Established", timeout=PATIENCE)
        Shirt = new_class("Shirt", version=f"{group}/v1", plural="shirts", namespaced=True, asyncio=True)
        self.assertTrue(issubclass(Shirt, APIObject))
        await self.make(Shirt, "plain", spec={"colour": "white"})
        await self.make(Shirt, "loud", spec={"colour": "red"})
        found = [one.name async for one in Shirt.list(
            namespace=self.namespace, field_selector="spec.colour=red", api=self.api)]
        self.assertEqual(found, ["loud"])


if __name__ == "__main__":
    unittest.main()
