import { queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { RedisScript } from '#platform/redis/script';
import { LineReporter } from '../application/ports.ts';

/** After this time without a renewal another pod may report: three times the interval of the renewals. */
const EXPIRY_MS = 6000;

/** Lua: takes or renews the key for the pod ARGV[1], unless another pod has it. Returns 1 if this pod has it now, else 0. */
const CLAIM = new RedisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** Lua: deletes the key if the pod ARGV[1] has it. */
const RELEASE = new RedisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`);

/** The reporter is the pod whose id is in one Redis key. */
export class RedisLineReporter extends LineReporter {
  constructor(
    private readonly redis: RedisConnection,
    private readonly pod: { readonly id: string },
  ) {
    super();
  }

  async claim(): Promise<boolean> {
    return (await CLAIM.run<number>(this.redis, [queueKeys.lineReporter], [this.pod.id, EXPIRY_MS])) === 1;
  }

  async release(): Promise<void> {
    await RELEASE.run(this.redis, [queueKeys.lineReporter], [this.pod.id]);
  }
}
