// The JavaScript client `@kubernetes/client-node` as its users write it. Run by
// crates/interop/tests with KUBECONFIG and CLIENTS set; each test has a namespace of its own.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

// The packages are installed below the target directory, not beside this file.
const installed = createRequire(join(process.env.CLIENTS, 'node', 'package.json'));
const k8s = await import(pathToFileURL(installed.resolve('@kubernetes/client-node')).href);

const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const extensions = config.makeApiClient(k8s.ApiextensionsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const limit = { timeout: 60_000 };

async function newNamespace() {
    const name = `n-${randomBytes(4).toString('hex')}`;
    const made = await core.createNamespace({ body: { metadata: { name } } });
    assert.equal(made.status.phase, 'Active');
    return name;
}

const configMap = (name, data, labels) => ({ metadata: { name, labels }, data });

const deployment = (name) => ({
    metadata: { name },
    spec: {
        replicas: 2,
        selector: { matchLabels: { app: name } },
        template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
    },
});

/// The Status that a call is refused with.
async function refused(code, reason, call) {
    try {
        await call();
    } catch (error) {
        assert.equal(error.code, code, String(error.stack));
        const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
        assert.deepEqual([status.kind, status.status, status.reason], ['Status', 'Failure', reason]);
        return status;
    }
    assert.fail(`not refused with ${code}`);
}

/// Collects what a stream of events says until there are `count`.
function collector(count) {
    const seen = [];
    let done;
    const all = new Promise((resolve) => (done = resolve));
    const add = (what) => {
        seen.push(what);
        if (seen.length === count) done(seen);
    };
    return { add, all };
}

test('objects are created, read, listed, replaced and deleted', limit, async () => {
    const namespace = await newNamespace();
    const made = await apps.createNamespacedDeployment({ namespace, body: deployment('web') });
    assert.equal(made.spec.strategy.type, 'RollingUpdate');
    assert.equal(made.spec.template.spec.terminationGracePeriodSeconds, 30);
    assert.ok(made.metadata.creationTimestamp instanceof Date);
    const read = await apps.readNamespacedDeployment({ namespace, name: 'web' });
    assert.deepEqual(read, made);
    read.spec.replicas = 4;
    const replaced = await apps.replaceNamespacedDeployment({ namespace, name: 'web', body: read });
    assert.deepEqual([replaced.spec.replicas, replaced.metadata.generation], [4, 2]);
    await refused(409, 'Conflict', () => apps.replaceNamespacedDeployment({ namespace, name: 'web', body: read }));
    const listed = await apps.listDeploymentForAllNamespaces({ fieldSelector: `metadata.namespace=${namespace}` });
    assert.deepEqual(listed.items.map((item) => item.metadata.name), ['web']);
    await apps.deleteNamespacedDeployment({ namespace, name: 'web' });
    const status = await refused(404, 'NotFound', () => apps.readNamespacedDeployment({ namespace, name: 'web' }));
    assert.equal(status.message, 'deployments.apps "web" not found');
    const wrong = deployment('web');
    wrong.spec.template.metadata.labels = { app: 'other' };
    const invalid = await refused(422, 'Invalid', () => apps.createNamespacedDeployment({ namespace, body: wrong }));
    assert.deepEqual(invalid.details.causes.map((cause) => cause.field), ['spec.template.metadata.labels']);
});

test('every kind of patch does what it says', limit, async () => {
    const namespace = await newNamespace();
    await apps.createNamespacedDeployment({ namespace, body: deployment('web') });
    const patch = (body, strategy, more = {}) =>
        apps.patchNamespacedDeployment(
            { namespace, name: 'web', body, ...more },
            k8s.setHeaderOptions('Content-Type', strategy),
        );
    const names = (made) => made.spec.template.spec.containers.map((container) => container.name).sort();
    const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
    assert.deepEqual(names(await patch(side, k8s.PatchStrategy.StrategicMergePatch)), ['side', 'web']);
    assert.deepEqual(names(await patch(side, k8s.PatchStrategy.MergePatch)), ['side']);
    const scaled = await patch([{ op: 'replace', path: '/spec/replicas', value: 7 }], k8s.PatchStrategy.JsonPatch);
    assert.equal(scaled.spec.replicas, 7);
    const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 8 } };
    const conflict = await refused(409, 'Conflict', () =>
        patch(applied, k8s.PatchStrategy.ServerSideApply, { fieldManager: 'applier' }),
    );
    assert.deepEqual(conflict.details.causes.map((cause) => cause.field), ['.spec.replicas']);
    const forced = await patch(applied, k8s.PatchStrategy.ServerSideApply, { fieldManager: 'applier', force: true });
    assert.equal(forced.spec.replicas, 8);
    assert.ok(forced.metadata.managedFields.some((entry) => entry.manager === 'applier' && entry.operation === 'Apply'));
});

test('a list comes in pages', limit, async () => {
    const namespace = await newNamespace();
    for (let number = 0; number < 7; number++) {
        await core.createNamespacedSecret({ namespace, body: { metadata: { name: `s-${number}` } } });
    }
    const names = [];
    let token;
    do {
        const page = await core.listNamespacedSecret({ namespace, limit: 3, _continue: token });
        names.push(...page.items.map((item) => item.metadata.name));
        assert.ok(page.items.length <= 3);
        token = page.metadata._continue;
    } while (token);
    assert.deepEqual(names, [0, 1, 2, 3, 4, 5, 6].map((number) => `s-${number}`));
});

test('a watch tells of every change in order', limit, async () => {
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const { add, all } = collector(4);
    const request = await new k8s.Watch(config).watch(
        path,
        { resourceVersion: metadata.resourceVersion, labelSelector: 'see', allowWatchBookmarks: true },
        (type, object) => type === 'BOOKMARK' || add([type, object.metadata.name, object.data?.k]),
        () => {},
    );
    await core.createNamespacedConfigMap({ namespace, body: configMap('a', { k: '1' }, { see: 'me' }) });
    await core.createNamespacedConfigMap({ namespace, body: configMap('unseen', { k: '1' }) });
    await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: configMap('a', { k: '2' }, { see: 'me' }) });
    await core.createNamespacedConfigMap({ namespace, body: configMap('b', { k: '3' }, { see: 'me' }) });
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
    assert.deepEqual(await all, [['ADDED', 'a', '1'], ['MODIFIED', 'a', '2'], ['ADDED', 'b', '3'], ['DELETED', 'a', '2']]);
    request.abort();
    // A watch that may last a second ends by itself.
    const begun = Date.now();
    await new Promise((resolve) => {
        new k8s.Watch(config).watch(path, { timeoutSeconds: 1 }, () => {}, resolve);
    });
    assert.ok(Date.now() - begun >= 900);
});

test('an informer keeps a true copy', limit, async () => {
    const namespace = await newNamespace();
    await core.createNamespacedConfigMap({ namespace, body: configMap('before', { k: '0' }) });
    const list = () => core.listNamespacedConfigMap({ namespace });
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
    const { add, all } = collector(4);
    for (const verb of ['add', 'update', 'delete']) {
        informer.on(verb, (object) => add([verb, object.metadata.name]));
    }
    const failed = new Promise((_, reject) => informer.on('error', reject));
    await informer.start();
    assert.equal(informer.get('before', namespace).data.k, '0');
    await core.createNamespacedConfigMap({ namespace, body: configMap('after', { k: '1' }) });
    await core.replaceNamespacedConfigMap({ namespace, name: 'after', body: configMap('after', { k: '2' }) });
    await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
    const seen = await Promise.race([all, failed]);
    assert.deepEqual(seen, [['add', 'before'], ['add', 'after'], ['update', 'after'], ['delete', 'before']]);
    assert.equal(informer.get('before', namespace), undefined);
    assert.equal(informer.get('after', namespace).data.k, '2');
    await informer.stop();
});

const group = 'example.net';
const version = 'v1';
const plural = 'boats';

before(async () => {
    const schema = {
        type: 'object',
        properties: {
            spec: {
                type: 'object',
                properties: { crew: { type: 'integer', minimum: 1 }, flag: { type: 'string', _default: 'none' } },
            },
            status: { type: 'object', properties: { sails: { type: 'boolean' } } },
        },
    };
    const versions = [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
    ];
    const names = { plural, singular: 'boat', kind: 'Boat' };
    await extensions.createCustomResourceDefinition({
        body: { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions } },
    });
    const established = ({ status }) =>
        status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True');
    let request;
    await new Promise((resolve, reject) => {
        request = new k8s.Watch(config).watch(
            '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
            { fieldSelector: `metadata.name=${plural}.${group}`, timeoutSeconds: 60 },
            (_, definition) => established(definition) && resolve(),
            () => reject(new Error('the definition was never established')),
        );
    });
    (await request).abort();
});

test('custom objects live like any other', limit, async () => {
    const namespace = await newNamespace();
    const at = { group, version, plural, namespace };
    const boat = (name, spec) => ({ apiVersion: `${group}/${version}`, kind: 'Boat', metadata: { name }, spec });
    const made = await custom.createNamespacedCustomObject({ ...at, body: boat('gull', { crew: 3, unknown: 1 }) });
    assert.deepEqual(made.spec, { crew: 3, flag: 'none' });
    const refusal = await refused(422, 'Invalid', () =>
        custom.createNamespacedCustomObject({ ...at, body: boat('ghost', { crew: 0 }) }),
    );
    assert.match(refusal.message, /spec\.crew/);
    const merge = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch);
    const patched = await custom.patchNamespacedCustomObject({ ...at, name: 'gull', body: { spec: { flag: 'no' } } }, merge);
    assert.deepEqual([patched.spec.flag, patched.metadata.generation], ['no', 2]);
    const told = await custom.patchNamespacedCustomObjectStatus(
        { ...at, name: 'gull', body: { status: { sails: true }, spec: { crew: 9 } } },
        merge,
    );
    assert.deepEqual([told.status.sails, told.spec.crew, told.metadata.generation], [true, 3, 2]);
    // The client that goes by discovery alone finds the kind as well.
    const read = await objects.read({ ...boat('gull'), metadata: { name: 'gull', namespace } });
    assert.equal(read.status.sails, true);
    const listed = await custom.listNamespacedCustomObject(at);
    assert.deepEqual(listed.items.map((item) => item.metadata.name), ['gull']);
    await custom.deleteNamespacedCustomObject({ ...at, name: 'gull' });
    await refused(404, 'NotFound', () => custom.getNamespacedCustomObject({ ...at, name: 'gull' }));
});
