"""The Python client `kubernetes`, typed and dynamic, as its users write it.

Run by crates/interop/tests with KUBECONFIG set; each test has a namespace of its own.
"""

import json
import os
import threading
import time
import unittest
import uuid

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, UnprocessibleEntityError

config.load_kube_config()


def deployment(name="web"):
    container = client.V1Container(name="web", image="web:1", ports=[client.V1ContainerPort(container_port=80)])
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": name}), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels={"app": name}), template=template
    )
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


def config_map(name, labels=None, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


class Case(unittest.TestCase):
    def setUp(self):
        self.core, self.apps = client.CoreV1Api(), client.AppsV1Api()
        self.namespace = "t-" + uuid.uuid4().hex[:8]
        made = self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))
        self.assertEqual(made.status.phase, "Active")

    def refused(self, code, reason, call, *arguments, **options):
        """The Status that a call is refused with."""
        with self.assertRaises(ApiException) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        status = json.loads(caught.exception.body)
        self.assertEqual((status["kind"], status["status"], status["code"]), ("Status", "Failure", code))
        self.assertEqual(status.get("reason"), reason)
        return status


class Typed(Case):
    def test_version(self):
        version = client.VersionApi().get_code()
        self.assertEqual((version.major, version.minor), ("1", "36"))
        self.assertTrue(version.git_version.startswith("v1.36."), version.git_version)

    def test_create_read_replace_delete(self):
        made = self.apps.create_namespaced_deployment(self.namespace, deployment())
        # Defaults, as upstream sets them.
        self.assertEqual(made.spec.strategy.type, "RollingUpdate")
        self.assertEqual(made.spec.strategy.rolling_update.max_surge, "25%")
        self.assertEqual(made.spec.revision_history_limit, 10)
        self.assertEqual(made.spec.progress_deadline_seconds, 600)
        self.assertEqual(made.spec.template.spec.restart_policy, "Always")
        self.assertEqual(made.spec.template.spec.containers[0].ports[0].protocol, "TCP")
        self.assertEqual(made.metadata.generation, 1)
        self.assertIsNotNone(made.metadata.creation_timestamp.tzinfo)

        read = self.apps.read_namespaced_deployment("web", self.namespace)
        self.assertEqual(read, made)
        read.spec.replicas = 3
        replaced = self.apps.replace_namespaced_deployment("web", self.namespace, read)
        self.assertEqual((replaced.spec.replicas, replaced.metadata.generation), (3, 2))
        self.assertEqual(replaced.metadata.uid, made.metadata.uid)
        self.assertGreater(int(replaced.metadata.resource_version), int(made.metadata.resource_version))
        status = self.refused(409, "Conflict", self.apps.replace_namespaced_deployment, "web", self.namespace, read)
        self.assertIn("the object has been modified", status["message"])

        scale = self.apps.read_namespaced_deployment_scale("web", self.namespace)
        self.assertEqual((scale.spec.replicas, scale.kind), (3, "Scale"))
        scale.spec.replicas = 5
        self.apps.replace_namespaced_deployment_scale("web", self.namespace, scale)
        self.assertEqual(self.apps.read_namespaced_deployment("web", self.namespace).spec.replicas, 5)

        gone = self.apps.delete_namespaced_deployment("web", self.namespace)
        self.assertEqual(gone.status, "Success")
        status = self.refused(404, "NotFound", self.apps.read_namespaced_deployment, "web", self.namespace)
        self.assertEqual(status["message"], 'deployments.apps "web" not found')
        self.assertEqual(status["details"], {"name": "web", "group": "apps", "kind": "deployments"})

    def test_errors_say_what_is_wrong(self):
        self.core.create_namespaced_config_map(self.namespace, config_map("a", k="v"))
        status = self.refused(
            409, "AlreadyExists", self.core.create_namespaced_config_map, self.namespace, config_map("a")
        )
        self.assertEqual(status["message"], 'configmaps "a" already exists')
        wrong = deployment()
        wrong.spec.selector.match_labels = {"app": "other"}
        status = self.refused(422, "Invalid", self.apps.create_namespaced_deployment, self.namespace, wrong)
        self.assertIn("`selector` does not match template `labels`", status["message"])
        causes = {cause["field"]: cause["reason"] for cause in status["details"]["causes"]}
        self.assertEqual(causes, {"spec.template.metadata.labels": "FieldValueInvalid"})
        status = self.refused(422, "Invalid", self.core.create_namespaced_config_map, self.namespace, config_map("A_b"))
        self.assertIn("metadata.name", status["message"])
        self.refused(404, "NotFound", self.core.create_namespaced_config_map, "no-such-namespace", config_map("a"))
        unknown = {"metadata": {"name": "b"}, "data": {"k": "v"}, "dta": {}}
        create = self.core.create_namespaced_config_map
        status = self.refused(400, "BadRequest", create, self.namespace, unknown, field_validation="Strict")
        self.assertIn('unknown field "dta"', status["message"])
        # A default of the client's: fields that are unknown are only warned of.
        _, code, headers = self.core.create_namespaced_config_map_with_http_info(
            self.namespace, unknown, field_validation="Warn"
        )
        self.assertEqual((code, headers["Warning"]), (201, '299 - "unknown field \\"dta\\""'))

    def test_dry_run_leaves_nothing(self):
        made = self.core.create_namespaced_config_map(self.namespace, config_map("a"), dry_run="All")
        self.assertTrue(made.metadata.uid)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "a", self.namespace)

    def test_every_kind_of_patch(self):
        self.apps.create_namespaced_deployment(self.namespace, deployment())
        patch = lambda body, **more: self.apps.patch_namespaced_deployment("web", self.namespace, body, **more)
        containers = lambda made: [(c.name, c.image) for c in made.spec.template.spec.containers]
        body = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}
        merged = patch(body, _content_type="application/strategic-merge-patch+json")
        self.assertEqual(sorted(containers(merged)), [("side", "side:1"), ("web", "web:1")])
        replaced = patch(body, _content_type="application/merge-patch+json")
        self.assertEqual(containers(replaced), [("side", "side:1")])
        image = "/spec/template/spec/containers/0/image"
        steps = [{"op": "test", "path": image, "value": "side:1"}, {"op": "replace", "path": image, "value": "side:2"}]
        self.assertEqual(containers(patch(steps)), [("side", "side:2")])
        self.refused(422, "Invalid", patch, steps)
        self.assertEqual(containers(self.apps.read_namespaced_deployment("web", self.namespace)), [("side", "side:2")])

    def test_apply_knows_who_owns_what(self):
        def apply(manager, force=None, **data):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}, "data": data}
            return self.core.patch_namespaced_config_map(
                "shared", self.namespace, body, field_manager=manager, force=force,
                _content_type="application/apply-patch+yaml",
            )

        self.assertEqual(apply("one", a="1", b="1").data, {"a": "1", "b": "1"})
        self.assertEqual(apply("two", c="2").data, {"a": "1", "b": "1", "c": "2"})
        status = self.refused(409, "Conflict", apply, "two", a="2", c="2")
        cause = status["details"]["causes"][0]
        self.assertEqual((cause["reason"], cause["field"]), ("FieldManagerConflict", ".data.a"))
        self.assertIn('"one"', cause["message"])
        forced = apply("two", force=True, a="2", c="2")
        self.assertEqual(forced.data, {"a": "2", "b": "1", "c": "2"})
        # What nobody applies any more goes.
        self.assertEqual(apply("one").data, {"a": "2", "c": "2"})
        managers = {entry.manager: entry.operation for entry in forced.metadata.managed_fields}
        self.assertEqual(managers, {"one": "Apply", "two": "Apply"})

    def test_pages_are_one_consistent_list(self):
        for number in range(25):
            self.core.create_namespaced_config_map(self.namespace, config_map(f"page-{number:02}", {"set": "pages"}))
        names, token, remaining, versions = [], None, [], set()
        while True:
            page = self.core.list_namespaced_config_map(self.namespace, limit=10, _continue=token)
            names += [item.metadata.name for item in page.items if item.metadata.name.startswith("page-")]
            remaining.append(page.metadata.remaining_item_count)
            versions.add(page.metadata.resource_version)
            token = page.metadata._continue
            if not token:
                break
            # Neither what comes nor what goes meanwhile changes the list.
            self.core.create_namespaced_config_map(self.namespace, config_map(f"page-{len(names):02}-late"))
        self.assertEqual(names, [f"page-{number:02}" for number in range(25)])
        self.assertEqual((remaining[-1], len(versions)), (None, 1))
        self.assertEqual(sorted(remaining[:-1], reverse=True), remaining[:-1])
        listed = self.core.list_namespaced_config_map(self.namespace, label_selector="set in (pages),none!=x", limit=500)
        self.assertEqual(len(listed.items), 25)
        self.assertIsNone(listed.metadata._continue)
        self.refused(400, "BadRequest", self.core.list_namespaced_config_map, self.namespace, limit=1, _continue="x!")

    def test_watch_from_a_version_to_a_timeout(self):
        start = self.core.list_namespaced_config_map(self.namespace).metadata.resource_version
        made = self.core.create_namespaced_config_map(self.namespace, config_map("a", {"see": "yes"}, k="1"))
        made.data["k"] = "2"
        changed = self.core.replace_namespaced_config_map("a", self.namespace, made)
        # An object that leaves the selection is gone for the watcher.
        changed.metadata.labels = {"see": "no"}
        self.core.replace_namespaced_config_map("a", self.namespace, changed)
        self.core.delete_namespaced_config_map("a", self.namespace)

        def events(**options):
            stream = watch.Watch().stream(
                self.core.list_namespaced_config_map, self.namespace, resource_version=start, timeout_seconds=1, **options
            )
            return [(event["type"], event["object"].metadata.name, (event["object"].data or {}).get("k")) for event in stream]

        begun = time.monotonic()
        everything = [event for event in events() if event[1] == "a"]
        self.assertEqual([kind for kind, _, _ in everything], ["ADDED", "MODIFIED", "MODIFIED", "DELETED"])
        self.assertEqual([value for _, _, value in everything], ["1", "2", "2", "2"])
        self.assertTrue(0.9 <= time.monotonic() - begun < 20, "the server ends the watch at its timeout")
        selected = events(label_selector="see=yes")
        self.assertEqual(selected, [("ADDED", "a", "1"), ("MODIFIED", "a", "2"), ("DELETED", "a", "2")])

    def test_watch_sees_what_happens_while_it_is_open(self):
        seen, watcher = [], watch.Watch()
        start = self.core.list_namespaced_secret(self.namespace).metadata.resource_version

        def write():
            for number in range(5):
                secret = client.V1Secret(metadata=client.V1ObjectMeta(name=f"s-{number}"), string_data={"k": str(number)})
                self.core.create_namespaced_secret(self.namespace, secret)

        writer = threading.Thread(target=write)
        writer.start()
        for event in watcher.stream(
            self.core.list_namespaced_secret, self.namespace, resource_version=start, timeout_seconds=60
        ):
            seen.append((event["type"], event["object"].metadata.name, event["object"].data["k"]))
            if len(seen) == 5:
                watcher.stop()
        writer.join()
        encoded = ["MA==", "MQ==", "Mg==", "Mw==", "NA=="]
        self.assertEqual(seen, [("ADDED", f"s-{number}", encoded[number]) for number in range(5)])

    def test_a_service_account_token_is_judged_by_rbac(self):
        self.core.create_namespaced_service_account(
            self.namespace, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="reader"))
        )
        token = self.core.create_namespaced_service_account_token(
            "reader", self.namespace, client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
        ).status.token
        settings = client.Configuration.get_default_copy()
        settings.cert_file = settings.key_file = None
        settings.api_key = {"authorization": "Bearer " + token}
        reader = client.CoreV1Api(client.ApiClient(settings))
        status = self.refused(403, "Forbidden", reader.list_namespaced_config_map, self.namespace)
        user = f"system:serviceaccount:{self.namespace}:reader"
        self.assertEqual(
            status["message"],
            f'configmaps is forbidden: User "{user}" cannot list resource "configmaps" in API group "" in the namespace "{self.namespace}"',
        )
        rbac = client.RbacAuthorizationV1Api()
        role = {"metadata": {"name": "read"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]}
        rbac.create_namespaced_role(self.namespace, role)
        binding = {
            "metadata": {"name": "read"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "read"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": self.namespace}],
        }
        rbac.create_namespaced_role_binding(self.namespace, binding)
        self.assertEqual(reader.list_namespaced_config_map(self.namespace).kind, "ConfigMapList")
        self.refused(403, "Forbidden", reader.list_namespaced_secret, self.namespace)

    def test_delete_collection_by_label(self):
        for name, label in [("a", "x"), ("b", "x"), ("c", "y")]:
            self.core.create_namespaced_config_map(self.namespace, config_map(name, {"l": label}))
        self.core.delete_collection_namespaced_config_map(self.namespace, label_selector="l=x")
        left = self.core.list_namespaced_config_map(self.namespace, label_selector="l")
        self.assertEqual([item.metadata.name for item in left.items], ["c"])


class Dynamic(Case):
    """The dynamic client, which knows only what discovery tells."""

    @classmethod
    def setUpClass(cls):
        cache = os.path.join(os.environ["SCRATCH"], "discovery.json")
        cls.dynamic = DynamicClient(client.ApiClient(), cache_file=cache)
        definitions = cls.dynamic.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
        schema = {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "required": ["size"],
                    "properties": {
                        "size": {"type": "integer", "minimum": 1},
                        "color": {"type": "string", "default": "red", "enum": ["red", "blue"]},
                    },
                    "x-kubernetes-validations": [
                        {"rule": "self.size < 100 || self.color == 'blue'", "message": "large things are blue"}
                    ],
                },
                "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
            },
        }
        version = {
            "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
        }
        names = {"plural": "things", "singular": "thing", "kind": "Thing", "shortNames": ["th"], "categories": ["all"]}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.org"},
            "spec": {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [version]},
        }
        made = definitions.create(body=definition)
        established = lambda found: any(
            condition.type == "Established" and condition.status == "True"
            for condition in (found.status.conditions or [])
        )
        for event in definitions.watch(
            name="things.example.org", resource_version=made.metadata.resourceVersion, timeout=60
        ):
            if established(event["object"]):
                break
        assert established(definitions.get(name="things.example.org"))
        cls.things = cls.dynamic.resources.get(api_version="example.org/v1", kind="Thing")

    def thing(self, name, **spec):
        return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}

    def test_discovery_tells_of_builtin_and_custom_kinds(self):
        self.assertEqual((self.things.name, self.things.namespaced), ("things", True))
        self.assertEqual(self.things.short_names, ["th"])
        self.assertIn("all", self.things.categories)
        self.assertTrue({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"} <= set(self.things.verbs))
        nodes = self.dynamic.resources.get(api_version="v1", kind="Node")
        self.assertEqual((nodes.name, nodes.namespaced), ("nodes", False))
        pods = self.dynamic.resources.get(api_version="v1", kind="Pod")
        self.assertIn("log", pods.subresources)
        by_short_name = self.dynamic.resources.search(short_names=["deploy"])
        # The client makes up a kind for the list of each.
        self.assertEqual({found.kind for found in by_short_name}, {"Deployment", "DeploymentList"})

    def test_custom_objects_live_like_any_other(self):
        made = self.things.create(body=self.thing("a", size=3, unknown="dropped"), namespace=self.namespace)
        self.assertEqual(made.spec.to_dict(), {"size": 3, "color": "red"})
        self.assertEqual(made.metadata.generation, 1)
        patched = self.things.patch(
            body={"spec": {"size": 4}}, name="a", namespace=self.namespace, content_type="application/merge-patch+json"
        )
        self.assertEqual((patched.spec.size, patched.metadata.generation), (4, 2))
        told = self.things.status.patch(
            body={"status": {"phase": "Fine"}, "spec": {"size": 9}}, name="a", namespace=self.namespace,
            content_type="application/merge-patch+json",
        )
        self.assertEqual((told.status.phase, told.spec.size, told.metadata.generation), ("Fine", 4, 2))
        applied = self.things.server_side_apply(
            body=self.thing("a", size=5), name="a", namespace=self.namespace, field_manager="applier", force_conflicts=True
        )
        self.assertEqual(applied.spec.size, 5)
        self.assertIn(("applier", "Apply"), {(entry.manager, entry.operation) for entry in applied.metadata.managedFields})
        with self.assertRaises(ConflictError):
            self.things.create(body=self.thing("a", size=1), namespace=self.namespace)
        self.assertEqual([item.metadata.name for item in self.things.get(namespace=self.namespace).items], ["a"])
        self.things.delete(name="a", namespace=self.namespace)
        with self.assertRaises(NotFoundError):
            self.things.get(name="a", namespace=self.namespace)

    def test_schema_and_rules_are_obeyed(self):
        for spec, part in [({"size": 0}, "spec.size"), ({"size": 1, "color": "green"}, "spec.color"), ({}, "spec.size"),
                           ({"size": 100}, "large things are blue")]:
            with self.assertRaises(UnprocessibleEntityError) as caught:
                self.things.create(body=self.thing("bad", **spec), namespace=self.namespace)
            self.assertIn(part, json.loads(caught.exception.body)["message"])
        self.things.create(body=self.thing("big", size=100, color="blue"), namespace=self.namespace)

    def test_watch_of_custom_objects(self):
        start = self.things.get(namespace=self.namespace).metadata.resourceVersion
        self.things.create(body=self.thing("w", size=1), namespace=self.namespace)
        self.things.delete(name="w", namespace=self.namespace)
        events = self.things.watch(namespace=self.namespace, resource_version=start, timeout=1)
        self.assertEqual([(event["type"], event["object"].metadata.name) for event in events], [("ADDED", "w"), ("DELETED", "w")])

    def test_pages_of_custom_objects(self):
        for number in range(5):
            self.things.create(body=self.thing(f"p-{number}", size=1), namespace=self.namespace)
        first = self.things.get(namespace=self.namespace, limit=3)
        self.assertEqual((len(first.items), first.metadata.remainingItemCount), (3, 2))
        rest = self.things.get(namespace=self.namespace, limit=3, _continue=first.metadata["continue"])
        self.assertEqual([item.metadata.name for item in rest.items], ["p-3", "p-4"])


if __name__ == "__main__":
    unittest.main()
