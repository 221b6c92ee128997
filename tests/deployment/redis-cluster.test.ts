import { setTimeout as sleep } from 'node:timers/promises';
import { RedisPods } from './redis-pods.ts';

/** Other loopback addresses than 127.0.0.1 exist on Linux only. */
const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

async function until(isTrue: () => boolean, withinMs = 20_000): Promise<void> {
  for (const giveUpAt = Date.now() + withinMs; !isTrue(); await sleep(100))
    if (Date.now() > giveUpAt) throw new Error(`It did not happen within ${withinMs} ms: ${isTrue.toString()}`);
}

const all = [0, 1, 2, 3, 4, 5];
const isReady = (pods: RedisPods) => all.every((node) => pods.script('ready.sh', node).status === 0);
const serves = (pods: RedisPods, node: number) => pods.redis(node, 'cluster', 'info').includes('cluster_state:ok');
const works = (pods: RedisPods) => all.every((node) => serves(pods, node));
const roles = (pods: RedisPods) => all.map((node) => pods.redis(node, 'role').split('\n')[0]);

async function createCluster(pods: RedisPods): Promise<void> {
  pods.start();
  await until(() => all.every((node) => pods.redis(node, 'ping') === 'PONG'));
  expect(pods.script('create.sh')).toMatchObject({ status: 0 });
  await until(() => works(pods) && isReady(pods));
}

describeOnLinux('the Redis Cluster of k8s/data/redis', () => {
  let pods: RedisPods;
  afterEach(() => pods.remove());

  test('create.sh makes 3 masters and 3 replicas; the cluster survives the kill of a master, and a restart of all nodes with other addresses', async () => {
    pods = new RedisPods();
    await createCluster(pods);
    expect(roles(pods)).toEqual(['master', 'master', 'master', 'slave', 'slave', 'slave']);
    expect(pods.script('create.sh').out).toBe('the cluster exists\n');
    expect(pods.write(0, 'key', 'kept')).toMatch(/^OK\n1$/m);

    const owner = [0, 1, 2].find((node) => pods.redis(node, 'get', 'key') === 'kept') ?? 0;
    const others = all.filter((node) => node !== owner);
    await pods.end('SIGKILL', [owner]);
    await until(() => others.filter((node) => pods.redis(node, 'role').startsWith('master')).length === 3);
    await until(() => pods.redis(others[0]!, '-c', 'get', 'key') === 'kept');
    // The new master has no replica yet, so it refuses writes that a second failure would lose.
    expect(pods.redis(others[0]!, '-c', 'set', 'key', 'new')).toContain('NOREPLICAS');

    pods.start([owner]);
    await until(() => works(pods) && isReady(pods));
    expect(roles(pods).filter((role) => role === 'master')).toHaveLength(3);
    await until(() => pods.redis(0, '-c', 'set', 'key', 'new') === 'OK');

    await pods.end('SIGTERM');
    pods.start();
    await until(() => works(pods) && isReady(pods));
    expect(pods.redis(0, '-c', 'get', 'key')).toBe('new');
  }, 90_000);

  test('replace.sh makes a node that has lost its volume the replica of the master without one, and does nothing in a cluster', async () => {
    pods = new RedisPods();
    await createCluster(pods);
    await pods.end('SIGKILL', [1]);
    await until(() => roles(pods).filter((role) => role === 'master').length === 3);
    await until(() => serves(pods, 0));
    pods.loseVolume(1);
    pods.start([1]);
    await until(() => pods.redis(1, 'ping') === 'PONG');
    expect(pods.script('ready.sh', 1).status).toBe(1);
    expect(pods.script('replace.sh', 1, '0')).toEqual({ status: 0, out: expect.stringMatching(/OK\n$/) as string });
    await until(() => isReady(pods));
    expect([roles(pods)[1], roles(pods).filter((role) => role === 'master').length]).toEqual(['slave', 3]);
    await until(() => all.every((node) => pods.redis(node, 'cluster', 'info').includes('cluster_known_nodes:6')));
    expect(pods.script('replace.sh', 1, '0')).toEqual({ status: 1, out: 'this node is in a cluster\n' });
  }, 60_000);

  test('negative control: without the introductions of start.sh the nodes do not find each other at their new addresses', async () => {
    pods = new RedisPods((script) => script.replace('rejoin &', ''));
    await createCluster(pods);
    await pods.end('SIGTERM');
    pods.start();
    await until(() => all.every((node) => pods.redis(node, 'ping') === 'PONG'));
    await sleep(8000);
    expect(works(pods)).toBe(false);
  }, 60_000);
});
