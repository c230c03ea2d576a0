"""schemathesis on our own OpenAPI: whatever it allows, no answer is a server error.

Reads every document that /openapi/v3 names, makes one of them and lets schemathesis send
requests made of it. Run by crates/interop/tests, and for longer by `make fuzz-openapi`.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import urllib.request

import yaml

# Names that objects have, may have and may not have: with any others most requests would
# end at the first check.
NAMES = ["default", "kube-system", "a-b", "no.such", "A_b", "x"]
# What answers for somebody else: a backend that is not there is a 502 or 503, rightly.
ELSEWHERE = re.compile(r"/(proxy|exec|attach|portforward|log)(/|$)")
# Objects of these groups change how every later request is answered (a webhook that cannot
# be reached is a 500, rightly), so they are only tried.
DRY = ("/apis/admissionregistration.k8s.io/", "/apis/apiregistration.k8s.io/", "/apis/flowcontrol.apiserver.k8s.io/")


class Cluster:
    """What the kubeconfig says, with the certificates as files."""

    def __init__(self, scratch):
        settings = yaml.safe_load(pathlib.Path(os.environ["KUBECONFIG"]).read_text())
        cluster, user = settings["clusters"][0]["cluster"], settings["users"][0]["user"]
        self.url = cluster["server"]
        self.files = {}
        for name, data in [
            ("ca", cluster["certificate-authority-data"]),
            ("cert", user["client-certificate-data"]),
            ("key", user["client-key-data"]),
        ]:
            self.files[name] = scratch / f"fuzz-{name}.pem"
            self.files[name].write_bytes(base64.b64decode(data))
        self.tls = ssl.create_default_context(cafile=self.files["ca"])
        self.tls.load_cert_chain(self.files["cert"], self.files["key"])

    def get(self, path):
        with urllib.request.urlopen(self.url + path, context=self.tls) as answer:
            return json.load(answer)


def merged(cluster, wanted):
    """One document of all the group versions whose path matches."""
    document = {"openapi": "3.0.0", "info": {"title": "ferry", "version": "v1.36"}, "paths": {}, "components": {"schemas": {}}}
    for path, entry in sorted(cluster.get("/openapi/v3")["paths"].items()):
        if not re.search(wanted, path):
            continue
        part = cluster.get(entry["serverRelativeURL"])
        document["components"]["schemas"].update(part.get("components", {}).get("schemas", {}))
        for url, item in part["paths"].items():
            if not ELSEWHERE.search(url) and "/watch/" not in url:
                document["paths"][url] = bounded(url, item)
    for name, schema in document["components"]["schemas"].items():
        narrow(name, schema)
    return document


def narrow(name, schema):
    """Lets bodies say of which kind they are, so that they are looked at further."""
    kinds = schema.get("x-kubernetes-group-version-kind", [])
    properties = schema.get("properties", {})
    if len(kinds) == 1 and "kind" in properties and "apiVersion" in properties:
        group, version = kinds[0]["group"], kinds[0]["version"]
        properties["kind"] = {"type": "string", "enum": [kinds[0]["kind"]]}
        properties["apiVersion"] = {"type": "string", "enum": [f"{group}/{version}" if group else version]}
        schema["required"] = sorted({*schema.get("required", []), "kind", "apiVersion", *({"metadata"} & set(properties))})
    if name.endswith(".meta.v1.ObjectMeta"):
        properties["name"] = {"type": "string", "enum": NAMES}
        properties.pop("resourceVersion", None)
        schema["required"] = ["name"]


def bounded(url, item):
    """The operations of a path without what would keep a request open."""
    shared = item.get("parameters", [])
    for method, operation in item.items():
        if method == "parameters":
            continue
        operation["parameters"] = [kept for kept in operation.get("parameters", []) if kept["name"] not in ("watch", "pretty")]
        if url.startswith(DRY) and method != "get":
            for parameter in operation["parameters"]:
                if parameter["name"] == "dryRun":
                    parameter["required"] = True
                    parameter["schema"] = {"type": "string", "enum": ["All"]}
    item["parameters"] = [kept for kept in shared if kept["name"] not in ("watch", "pretty")]
    for parameter in item["parameters"]:
        if parameter["in"] == "path" and parameter["name"] in ("name", "namespace"):
            parameter["schema"] = {"type": "string", "enum": NAMES}
    return item


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--examples", default="20", help="requests for each operation")
    arguments.add_argument("--seed", default="20260504")
    arguments.add_argument("--only", default=".", help="a pattern of group versions, as /openapi/v3 names them")
    arguments.add_argument("--phases", default="fuzzing")
    arguments.add_argument("--workers", default="2")
    options = arguments.parse_args()

    scratch = pathlib.Path(os.environ["SCRATCH"])
    cluster = Cluster(scratch)
    document = merged(cluster, options.only)
    operations = sum(1 for item in document["paths"].values() for method in item if method != "parameters")
    if operations == 0:
        sys.exit(f"nothing in /openapi/v3 matches {options.only!r}")
    file = scratch / "openapi.json"
    file.write_text(json.dumps(document))
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(file), "--url", cluster.url,
        "--checks", "not_a_server_error", "--phases", options.phases, "--mode", "positive",
        "--max-examples", options.examples, "--seed", options.seed, "--generation-database", "none",
        "--no-shrink", "--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off",
        "--workers", options.workers, "--request-timeout", "60",
        "--tls-verify", str(cluster.files["ca"]),
        "--request-cert", str(cluster.files["cert"]), "--request-cert-key", str(cluster.files["key"]),
    ]
    print(f"{operations} operations, {options.examples} requests each, seed {options.seed}", flush=True)
    ended = subprocess.run(command, cwd=scratch)
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    print("no server errors")


if __name__ == "__main__":
    main()
