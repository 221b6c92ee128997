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

const masters = (pods: RedisPods) => roles(pods).filter((role) => role === 'master').length;
const answer = (pods: RedisPods) => all.every((node) => pods.redis(node, 'ping') === 'PONG');

/** The nodes find each other in less with the introductions of start.sh: the whole test after the negative control takes 7 s. */
const FINDING_MS = 8000;

// The tests follow one cluster through its life, because its creation takes several seconds.
describeOnLinux('the Redis Cluster of k8s/data/redis', () => {
  let pods: RedisPods;
  beforeAll(() => void (pods = new RedisPods()));
  afterAll(() => pods.remove());

  test('create.sh makes 3 masters and 3 replicas, once', async () => {
    pods.start();
    await until(() => answer(pods));
    expect(pods.script('ready.sh').status).toBe(1);
    expect(pods.script('create.sh')).toMatchObject({ status: 0 });
    await until(() => works(pods) && isReady(pods));
    expect(roles(pods)).toEqual(['master', 'master', 'master', 'slave', 'slave', 'slave']);
    expect(pods.script('create.sh').out).toBe('the cluster exists\n');
    expect(pods.write(0, 'key', 'kept')).toMatch(/^OK\n1$/m);
  }, 60_000);

  test('a killed master is replaced by its replica, and comes back with another address as a replica', async () => {
    const owner = [0, 1, 2].find((node) => pods.redis(node, 'get', 'key') === 'kept') ?? 0;
    const other = all.find((node) => node !== owner) ?? 0;
    await pods.end('SIGKILL', [owner]);
    await until(() => masters(pods) === 3);
    await until(() => pods.redis(other, '-c', 'get', 'key') === 'kept');
    // The new master has no replica yet, so it refuses writes that a second failure would lose.
    expect(pods.redis(other, '-c', 'set', 'key', 'new')).toContain('NOREPLICAS');

    pods.start([owner]);
    await until(() => works(pods) && isReady(pods));
    expect(masters(pods)).toBe(3);
    await until(() => pods.redis(0, '-c', 'set', 'key', 'new') === 'OK');
  }, 60_000);

  test('negative control: without the introductions of start.sh the nodes do not find each other at new addresses', async () => {
    pods.writeFiles((text) => text.replace('rejoin &', ''));
    await pods.end('SIGTERM');
    pods.start();
    await until(() => answer(pods));
    await sleep(FINDING_MS);
    expect(works(pods)).toBe(false);
  }, 60_000);

  test('when all nodes start again with new addresses, the cluster works again with its data', async () => {
    pods.writeFiles();
    await pods.end('SIGTERM');
    pods.start();
    await until(() => works(pods) && isReady(pods));
    expect(pods.redis(0, '-c', 'get', 'key')).toBe('new');
  }, 60_000);

  test('replace.sh makes a node that has lost its volume the replica of the master without one, and does nothing in a cluster', async () => {
    const before = roles(pods);
    const [lost = 0, other = 1] = all.filter((node) => before[node] === 'master');
    await pods.end('SIGKILL', [lost]);
    await until(() => masters(pods) === 3 && serves(pods, other));
    pods.loseVolume(lost);
    pods.start([lost]);
    await until(() => pods.redis(lost, 'ping') === 'PONG');
    expect(pods.script('ready.sh', lost).status).toBe(1);
    expect(pods.script('replace.sh', lost, String(other))).toEqual({ status: 0, out: expect.stringMatching(/OK\n$/) as string });
    await until(() => isReady(pods));
    expect([roles(pods)[lost], masters(pods)]).toEqual(['slave', 3]);
    await until(() => all.every((node) => pods.redis(node, 'cluster', 'info').includes('cluster_known_nodes:6')));
    expect(pods.script('replace.sh', lost, String(other))).toEqual({ status: 1, out: 'this node is in a cluster\n' });
  }, 60_000);
});
