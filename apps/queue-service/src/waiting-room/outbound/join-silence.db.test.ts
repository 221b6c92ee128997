import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis } from '#testing/test-database';
import { pause, restoreEmpty, TOKEN_SECRETS } from '../testing/line-fixture.ts';
import { RedisWaitingLines } from './redis-waiting-lines.ts';

const TIMEOUT_MS = 600;

test('when Redis stops answering, every join fails within one command timeout, including a join that waited for a batch', async () => {
  const server = await createTestRedis();
  const proxy = await TcpProxy.inFrontOf(server.url);
  const redis = connectRedis(proxy.url, { name: 'silence-test', commandTimeoutMs: TIMEOUT_MS });
  try {
    await whenReady(redis);
    const lines = new RedisWaitingLines(redis, {
      purchaseWindowMs: 60_000,
      persistenceSeconds: 60,
      presenceMs: 60_000,
      tokenSecrets: TOKEN_SECRETS,
    });
    const matchId = randomUUID();
    await restoreEmpty(lines, matchId);
    await lines.change(matchId, { status: 'active' });
    expect((await lines.join(matchId, randomUUID())).kind).toBe('created');
    proxy.silence();
    const join = async () => {
      const startedAt = performance.now();
      await expect(lines.join(matchId, randomUUID())).rejects.toThrow();
      return performance.now() - startedAt;
    };
    const answers: Promise<number>[] = [];
    for (let fan = 0; fan < 40; fan += 1) {
      answers.push(join());
      await pause(20);
    }
    expect(Math.max(...(await Promise.all(answers)))).toBeLessThan(TIMEOUT_MS + 250);
  } finally {
    await closeRedis(redis);
    await proxy.close();
    await server.close();
  }
});
