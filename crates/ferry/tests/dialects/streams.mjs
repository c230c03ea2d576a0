// exec, logs and port-forward by the JavaScript client. Run by crates/ferry/tests/dialects.rs;
// the pod is the argument.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const installed = createRequire(join(process.env.CLIENTS, 'node', 'package.json'));
const k8s = await import(pathToFileURL(installed.resolve('@kubernetes/client-node')).href);

const pod = process.argv[2];
const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);

async function run(command) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const said = text(stdout);
    const status = await new Promise((resolve, reject) => {
        new k8s.Exec(config)
            .exec('default', pod, 'web', command, stdout, stderr, null, false, resolve)
            .catch(reject);
    });
    stdout.end();
    return [await said, status];
}

const [said, done] = await run(['/applets', 'exit', '0', 'hello']);
assert.equal(said, 'hello\n');
assert.equal(done.status, 'Success');
const [, failed] = await run(['/applets', 'exit', '7']);
assert.equal(failed.status, 'Failure');
assert.deepEqual(failed.details.causes, [{ reason: 'ExitCode', message: '7' }]);

const forward = new k8s.PortForward(config);
const server = createServer((socket) => {
    forward.portForward('default', pod, [8080], socket, null, socket).catch((error) => socket.destroy(error));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const answer = await new Promise((resolve, reject) => {
    const socket = connect(server.address().port, '127.0.0.1');
    let heard = '';
    socket.on('data', (data) => {
        heard += data;
        if (heard.includes(pod)) {
            socket.destroy();
            resolve(heard);
        }
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
});
assert.match(answer, /^HTTP\/1.1 200/);
assert.ok(answer.includes(pod), answer);
server.close();
console.log('all dialects are understood');
process.exit(0);
