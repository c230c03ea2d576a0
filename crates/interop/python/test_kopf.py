"""An operator written with `kopf`: finalizers, status, children, retries, daemons and indices.

Run by crates/interop/tests with KUBECONFIG set. The operator runs in a thread, the test
looks at its doings with the client `kubernetes`.
"""

import asyncio
import threading
import time
import unittest
import uuid

import kopf
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

PATIENCE = 60
FINALIZER = "kopf.zalando.org/KopfFinalizerMarker"

config.load_kube_config()


def definition(group):
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "properties": {"watts": {"type": "integer"}, "colour": {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": loose}}
    version = {
        "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "lamps", "singular": "lamp", "kind": "Lamp"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"lamps.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


class Operator:
    """The operator and what its handlers were called for."""

    def __init__(self, group, namespace):
        self.group, self.namespace = group, namespace
        self.ready, self.stop = threading.Event(), threading.Event()
        self.tries, self.changes, self.deleted, self.blinks, self.children = 0, [], [], 0, []
        self.failure = None
        self.registry = kopf.OperatorRegistry()
        self.register()
        self.thread = threading.Thread(target=self.run)

    def register(self):
        registry, lamps = self.registry, (self.group, "v1", "lamps")
        kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)

        @kopf.on.startup(registry=registry)
        def settle(settings, **_):
            settings.execution.max_workers = 4

        @kopf.on.create(*lamps, id="light", registry=registry)
        def light(body, spec, name, patch, retry, **_):
            self.tries += 1
            if retry == 0:
                raise kopf.TemporaryError("the bulb is cold", delay=0.1)
            child = {
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"watts": str(spec["watts"])},
                "metadata": {"name": f"{name}-bulb", "labels": {"part": "bulb"}},
            }
            kopf.adopt(child)
            client.CoreV1Api().create_namespaced_config_map(self.namespace, child)
            kopf.info(body, reason="Lit", message="the bulb is warm")
            patch.status["lit"] = True
            return {"bulb": f"{name}-bulb"}

        @kopf.on.field(*lamps, field="spec.colour", registry=registry)
        def paint(old, new, **_):
            self.changes.append((old, new))

        @kopf.on.delete(*lamps, registry=registry)
        def darken(name, **_):
            self.deleted.append(name)

        @kopf.daemon(*lamps, cancellation_timeout=1, registry=registry)
        async def blink(stopped, **_):
            while not stopped:
                self.blinks += 1
                await asyncio.sleep(0.05)

        @kopf.on.event("configmaps", labels={"part": "bulb"}, registry=registry)
        def look(event, name, **_):
            self.children.append((event["type"], name))

    def run(self):
        try:
            loop = asyncio.new_event_loop()
            loop.run_until_complete(kopf.operator(
                registry=self.registry, namespaces=[self.namespace], standalone=True,
                ready_flag=self.ready, stop_flag=self.stop,
            ))
            loop.close()
        except Exception as error:  # the test reports it, because it cannot see this thread's
            self.failure = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(PATIENCE)


class KopfOperator(unittest.TestCase):
    def setUp(self):
        self.core, self.custom = client.CoreV1Api(), client.CustomObjectsApi()
        self.namespace = "t-" + uuid.uuid4().hex[:8]
        self.group = f"{self.namespace}.example.com"
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))
        client.ApiextensionsV1Api().create_custom_resource_definition(definition(self.group))
        self.eventually("the definition", self.lamps)

    def eventually(self, what, look):
        """What `look` finds; an error of the API counts as nothing found yet."""
        deadline, last = time.monotonic() + PATIENCE, None
        while time.monotonic() < deadline:
            try:
                last = look()
                if last:
                    return last
            except ApiException as error:
                last = error
            time.sleep(0.05)
        self.fail(f"{what}: not within {PATIENCE} s; last: {last}")

    def lamps(self):
        return self.custom.list_namespaced_custom_object(self.group, "v1", self.namespace, "lamps")

    def lamp(self, name="desk"):
        return self.custom.get_namespaced_custom_object(self.group, "v1", self.namespace, "lamps", name)

    def test_an_operator_keeps_a_lamp_from_create_to_delete(self):
        with Operator(self.group, self.namespace) as operator:
            self.eventually("the operator", lambda: operator.ready.is_set() or operator.failure)
            self.assertIsNone(operator.failure)
            body = {
                "apiVersion": f"{self.group}/v1", "kind": "Lamp", "metadata": {"name": "desk"},
                "spec": {"watts": 40, "colour": "white"},
            }
            self.custom.create_namespaced_custom_object(self.group, "v1", self.namespace, "lamps", body)

            # The first try fails and is made again; its result and the patch are in the status.
            lit = self.eventually("the status", lambda: (found := self.lamp()).get("status", {}).get("lit") and found)
            self.assertEqual(lit["status"]["light"], {"bulb": "desk-bulb"})
            self.assertEqual(lit["metadata"]["finalizers"], [FINALIZER])
            self.assertEqual(lit["metadata"]["generation"], 1, "finalizer, annotations and status are no new generation")
            self.assertEqual(operator.tries, 2)
            self.eventually("the daemon", lambda: operator.blinks > 1)

            # The child belongs to its lamp, and the operator's watch has seen it.
            child = self.core.read_namespaced_config_map("desk-bulb", self.namespace)
            owner = child.metadata.owner_references[0]
            self.assertEqual((owner.kind, owner.uid, owner.controller), ("Lamp", lit["metadata"]["uid"], True))
            self.eventually("the child's event", lambda: ("ADDED", "desk-bulb") in operator.children)

            # A change of one field reaches its handler once, with the old value and the new.
            change = {"spec": {"colour": "red"}}
            self.custom.patch_namespaced_custom_object(self.group, "v1", self.namespace, "lamps", "desk", change)
            self.eventually("the change", lambda: ("white", "red") in operator.changes)
            self.assertEqual(operator.changes.count(("white", "red")), 1)

            # The handler's event is an event of the lamp.
            def events():
                about = "involvedObject.kind=Lamp,involvedObject.name=desk,reason=Lit"
                return self.core.list_namespaced_event(self.namespace, field_selector=about).items

            event = self.eventually("the event", events)[0]
            self.assertEqual((event.type, event.message), ("Normal", "the bulb is warm"))
            self.assertEqual(event.involved_object.uid, lit["metadata"]["uid"])

            # Deletion waits for the handler and ends the daemon.
            self.custom.delete_namespaced_custom_object(self.group, "v1", self.namespace, "lamps", "desk")
            self.eventually("the lamp to go", lambda: not self.lamps()["items"])
            self.assertEqual(operator.deleted, ["desk"])
        self.assertIsNone(operator.failure)
        self.assertFalse(operator.thread.is_alive(), "the operator stops when asked")


if __name__ == "__main__":
    unittest.main()
