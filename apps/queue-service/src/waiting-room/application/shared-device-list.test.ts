import type { Device } from './device.ts';
import { LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';
import { SharedDeviceList } from './shared-device-list.ts';
import { PresenceReports } from './presence-reports.ts';

const OWNER = { matchId: 'm', userId: 'fan', token: 't' };
const deviceOf = (websocketId: string): FanDevice => ({ userId: 'fan', websocketId });

class TestDevice implements Device {
  isOpen = true;
  constructor(readonly id: string) {}
  send(): void {}
  close(): void {}
}

/** One pod, with a fake Redis that records what the pod reports. */
function pod() {
  const reported = { removed: [] as string[], closed: [] as string[][] };
  const redis = { replaced: [] as FanDevice[], isDown: false };
  const connectedFans = {
    removeConnections: (_matchId: string, devices: readonly FanDevice[]) => {
      if (redis.isDown) return Promise.reject(new Error('Redis is down'));
      reported.removed.push(...devices.map(({ websocketId }) => websocketId));
      return Promise.resolve();
    },
    sendHeartbeat: (_matchId: string, _pod: string, closed: readonly FanDevice[]) => {
      reported.closed.push(closed.map(({ websocketId }) => websocketId));
      redis.replaced = redis.replaced.filter(({ websocketId }) => !closed.some((other) => other.websocketId === websocketId));
      return Promise.resolve(redis.replaced);
    },
  } as unknown as ConnectedFans;
  const liveFans = new LiveFans();
  const presence = new PresenceReports(connectedFans, liveFans, { presenceMs: 1000, persistenceMs: 60_000 });
  const closed: string[] = [];
  const fanConnections = {
    closeReplaced: (devices: readonly Device[]) => {
      for (const device of devices) liveFans.remove(device);
      closed.push(...devices.map(({ id }) => id));
    },
  };
  const deviceList = new SharedDeviceList(connectedFans, liveFans, presence, fanConnections, { id: 'pod-' });
  const sendHeartbeats = () => deviceList.sendHeartbeats();
  const connect = (id: string) => liveFans.add(OWNER, new TestDevice(id), 0);
  return { reported, redis, liveFans, presence, deviceList, closed, sendHeartbeats, connect };
}

test('SharedDeviceList: reportMissing reports listed connections of this pod that are neither open nor being registered', async () => {
  const { connect, deviceList, presence, reported } = pod();
  connect('pod-1');
  let finish: (() => void) | undefined;
  const registration = deviceList.duringRegistration('pod-2', () => new Promise<void>((resolve) => (finish = resolve)));
  deviceList.reportMissing('m', ['pod-1', 'pod-2', 'pod-3', 'other-4'].map(deviceOf));
  await presence.reportClosed();
  expect(reported.removed).toEqual(['pod-3']);
  finish!();
  await registration;
  deviceList.reportMissing('m', [deviceOf('pod-2')]);
  await presence.reportClosed();
  expect(reported.removed).toEqual(['pod-3', 'pod-2']);
});

test('SharedDeviceList: a replaced connection is closed after one heartbeat, and the next heartbeat reports it as closed', async () => {
  const { connect, redis, sendHeartbeats, closed, reported } = pod();
  connect('pod-1');
  connect('pod-2');
  redis.replaced = [deviceOf('pod-1')];
  await sendHeartbeats();
  expect(closed).toEqual(['pod-1']);
  await sendHeartbeats();
  expect(reported.closed).toEqual([[], ['pod-1']]);
  expect(redis.replaced).toEqual([]);
});

test('SharedDeviceList: a connection replaced while its token is read is closed and reported only after the read', async () => {
  const { connect, deviceList, redis, sendHeartbeats, closed, reported } = pod();
  connect('pod-1');
  let finish: (() => void) | undefined;
  const registration = deviceList.duringRegistration('pod-2', () => new Promise<void>((resolve) => (finish = resolve)));
  redis.replaced = [deviceOf('pod-2')];
  await sendHeartbeats();
  await sendHeartbeats();
  expect([closed, reported.closed]).toEqual([[], [[], []]]);
  finish!();
  await registration;
  connect('pod-2');
  await sendHeartbeats();
  expect(closed).toEqual(['pod-2']);
  expect(redis.replaced).toEqual([]);
});

test('PresenceReports: connections that close while Redis is down are reported as closed when Redis is back', async () => {
  const { redis, presence, reported } = pod();
  redis.isDown = true;
  for (let device = 0; device < 450; device += 1) presence.noteClosed(OWNER, `pod-${device}`);
  await expect(presence.reportClosed()).rejects.toThrow('Redis is down');
  redis.isDown = false;
  await presence.reportClosed();
  expect(reported.removed).toHaveLength(450);
});
