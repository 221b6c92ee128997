import { Device } from './device.ts';
import { LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';
import { SharedCount } from './shared-count.ts';
import { SignsOfLife } from './signs-of-life.ts';

const OWNER = { matchId: 'm', userId: 'fan', token: 't' };
const named = (websocketId: string): FanDevice => ({ userId: 'fan', websocketId });

class TestDevice extends Device {
  isOpen = true;
  constructor(readonly id: string) {
    super();
  }
  tell(): void {}
  end(): void {}
}

/** One pod, and what Redis would have heard of it. */
function pod() {
  const heard = { parted: [] as string[], closed: [] as string[][] };
  const redis = { replaced: [] as FanDevice[], isAway: false };
  const entries = {
    part: (_matchId: string, devices: readonly FanDevice[]) => {
      if (redis.isAway) return Promise.reject(new Error('away'));
      heard.parted.push(...devices.map(({ websocketId }) => websocketId));
      return Promise.resolve();
    },
    beat: (_matchId: string, _pod: string, closed: readonly FanDevice[]) => {
      heard.closed.push(closed.map(({ websocketId }) => websocketId));
      redis.replaced = redis.replaced.filter(({ websocketId }) => !closed.some((other) => other.websocketId === websocketId));
      return Promise.resolve(redis.replaced);
    },
  } as unknown as ConnectedFans;
  const live = new LiveFans();
  const signs = new SignsOfLife(entries, live, { presenceMs: 1000, persistenceMs: 60_000 });
  const count = new SharedCount(entries, live, signs, 'pod-');
  const ended: string[] = [];
  const beat = () =>
    count.beat((devices) => {
      for (const device of devices) live.remove(device);
      ended.push(...devices.map(({ id }) => id));
    });
  const connect = (id: string) => live.add(OWNER, new TestDevice(id), 0);
  return { heard, redis, live, signs, count, ended, beat, connect };
}

test('of what is said to be here, that is disowned which is neither connected nor arriving nor of another pod', async () => {
  const { connect, count, signs, heard } = pod();
  connect('pod-1');
  let arrived: (() => void) | undefined;
  const arriving = count.arrive('pod-2', () => new Promise<void>((resolve) => (arrived = resolve)));
  count.disown('m', ['pod-1', 'pod-2', 'pod-3', 'other-4'].map(named));
  await signs.sayParted();
  expect(heard.parted).toEqual(['pod-3']);
  arrived!();
  await arriving;
  count.disown('m', [named('pod-2')]);
  await signs.sayParted();
  expect(heard.parted).toEqual(['pod-3', 'pod-2']);
});

test('what was replaced is closed by a beat and acknowledged by the next', async () => {
  const { connect, redis, beat, ended, heard } = pod();
  connect('pod-1');
  connect('pod-2');
  redis.replaced = [named('pod-1')];
  await beat();
  expect(ended).toEqual(['pod-1']);
  await beat();
  expect(heard.closed).toEqual([[], ['pod-1']]);
  expect(redis.replaced).toEqual([]);
});

test('what was replaced before it has arrived is not acknowledged until it has, and then closed', async () => {
  const { connect, count, redis, beat, ended, heard } = pod();
  connect('pod-1');
  let arrived: (() => void) | undefined;
  const arriving = count.arrive('pod-2', () => new Promise<void>((resolve) => (arrived = resolve)));
  redis.replaced = [named('pod-2')];
  await beat();
  await beat();
  expect([ended, heard.closed]).toEqual([[], [[], []]]);
  arrived!();
  await arriving;
  connect('pod-2');
  await beat();
  expect(ended).toEqual(['pod-2']);
  expect(redis.replaced).toEqual([]);
});

test('what closes while Redis is away is said when it is back', async () => {
  const { redis, signs, heard } = pod();
  redis.isAway = true;
  for (let device = 0; device < 450; device += 1) signs.noteParted(OWNER, `pod-${device}`);
  await expect(signs.sayParted()).rejects.toThrow('away');
  redis.isAway = false;
  await signs.sayParted();
  expect(heard.parted).toHaveLength(450);
});
