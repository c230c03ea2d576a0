# The two commands of the README, and what they are made of. `make help` lists them.

CARGO ?= cargo
FERRY := target/release/ferry
CLUSTER_DIR ?= /var/lib/ferry-lab

.PHONY: help up down demo cluster cluster-down build test check bench scale fuzz fuzz-openapi uninstall deps-run deps-test

help:               ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 20

up: deps-run build  ## a one-node cluster, in the background, ready when this returns
	$(FERRY) up -d

down:               ## stop the cluster; its data stays
	$(FERRY) down

demo: up            ## three web servers behind one name, asked from another pod
	$(FERRY) demo

cluster: deps-run build  ## a server and three nodes on this machine: NODES=3
	scripts/lab up $(CLUSTER_DIR) 96 $(or $(NODES),3)
	kubectl get nodes -o wide

cluster-down:       ## end them and remove everything they made
	scripts/lab remove $(CLUSTER_DIR)

uninstall:          ## stop the cluster and remove everything it made on this machine
	$(FERRY) uninstall

build:              ## the release binary
	$(CARGO) build --release --locked -p ferry

test: deps-run deps-test  ## every test: unit, conformance, end to end on real containerd
	scripts/test

check:              ## formatting, lints and licences, as a reviewer would look
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny check; else echo "cargo-deny is not installed: cargo install cargo-deny"; fi

bench: deps-run     ## memory, start-up, throughput and the gate in one run, as ratios
	$(CARGO) build --release --locked -p ferry -p ferry-bench
	target/release/ferry-bench

scale: deps-run     ## upstream's scheduler workloads on hollow nodes: WORKLOAD=part of a name, KUBECONFIG_FILE=another server
	$(CARGO) build --release --locked -p ferry -p ferry-bench
	target/release/ferry-bench --only scheduling $(if $(WORKLOAD),--workload $(WORKLOAD)) $(if $(KUBECONFIG_FILE),--kubeconfig $(KUBECONFIG_FILE))

fuzz:               ## libFuzzer on every reader of bytes from outside: TARGET=one TIME=seconds each
	scripts/fuzz $(or $(TIME),60) $(TARGET)

fuzz-openapi: deps-test  ## requests made of our own OpenAPI, against a server of their own: EXAMPLES=20
	FUZZ_EXAMPLES=$(or $(EXAMPLES),20) $(CARGO) test --locked -p ferry-interop --test interop -- --nocapture no_request

deps-run:
	scripts/install-deps run

deps-test:
	scripts/install-deps test
