import { queueKeys } from '#contracts/queue-keys';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { openMonolith, putOnSale, type MatchOnSale, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { FollowWaitingRoom } from './application/follow-waiting-room.ts';

let opened: OpenBoxOffice;
let replicas: WholeMonolith[];
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  // Nothing is sent, because no background work runs.
  const settings = { ...opened.settings, ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/alerts' };
  replicas = [await openMonolith(settings), await openMonolith(settings)];
  match = await putOnSale(opened.office.monolith, { queue_required: true });
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await opened.close();
});

test('an address with many joins is alerted once, by name, whatever the replicas and however often the event comes', async () => {
  const event = { event: 'queue.joins_from_one_address', match_id: match.id, address: '203.0.113.7', joins: 900, line: 1000 };
  const write = (address: string) =>
    opened.office.monolith.resources.redis.xadd(queueKeys.events(match.id), '*', 'event', JSON.stringify({ ...event, address }));
  for (const address of [event.address, '2001:db8:0:1::/64', event.address]) await write(address);
  await Promise.all(replicas.map((replica) => replica.get(FollowWaitingRoom).execute(match.id)));
  const rows = await opened.office.rows<{ way: string; text: string }>(
    `select way, text from alert_notes where about = 'many joins from one address' order by id`,
  );
  expect(rows.map(({ text }) => text)).toEqual([
    expect.stringContaining(`900 of 1000 fans in the line of match ${match.id} joined from the address 203.0.113.7 within`),
    expect.stringContaining('from the address 2001:db8:0:1::/64 within'),
  ]);
  expect(rows.every(({ way }) => way === 'webhook')).toBe(true);
  expect(await replicas[0]!.get(AlertNotes).createDueAlerts()).toBe(1);
  expect(await replicas[1]!.get(AlertNotes).createDueAlerts()).toBe(0);
});
