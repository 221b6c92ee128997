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
const works = (pods: RedisPods) => all.every((node) => pods.redis(node, 'cluster', 'info').includes('cluster_state:ok'));
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

  test('create.sh makes 3 masters and 3 replicas; a killed master is replaced, and comes back with another address as a replica', async () => {
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
  }, 60_000);

  test('when all nodes start again with other addresses, the cluster works again with its data', async () => {
    pods = new RedisPods();
    await createCluster(pods);
    expect(pods.write(0, 'key', 'kept')).toMatch(/^OK\n1$/m);
    await pods.end('SIGTERM');
    pods.start();
    await until(() => works(pods) && isReady(pods));
    expect(pods.redis(0, '-c', 'get', 'key')).toBe('kept');
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
