import { randomUUID } from 'node:crypto';
import { broadcastJob } from '#contracts/queue-jobs';
import { JobsApi } from '../jobs/jobs.api.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { Reminders } from './reminders.schedule.ts';
import { giveTicket } from '../testing/transfer-calls.ts';

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
beforeEach(async () => void (await office.rows('truncate jobs, outbox, match_reminders, broadcasts, devices, matches cascade')));
afterAll(async () => opened.close());

interface Mail {
  readonly recipient: string;
  readonly user_id: string;
  readonly template: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly useful_until: string;
}

interface RangePush {
  readonly template: string;
  readonly broadcast_id: string;
  readonly range: { readonly from: number; readonly to: number };
  readonly payload: { readonly title: string; readonly body: string; readonly data: Readonly<Record<string, string>> };
  readonly useful_until: string;
}

async function pushes(template: string): Promise<RangePush[]> {
  const rows = await office.rows<{ body: unknown }>(
    `select body from outbox where destination = 'push' and body ->> 'template' = $1 order by seq`,
    [template],
  );
  return rows.map(({ body }) => broadcastJob.parse(body)) as RangePush[];
}

const pushedTokens = (broadcastId: string | undefined): Promise<{ fcm_token: string }[]> =>
  office.rows(`select fcm_token from broadcast_devices where broadcast_id = $1 order by ordinal`, [broadcastId]);

const givePhones = (userIds: readonly string[]) =>
  office.rows(
    `insert into devices (user_id, device_id, fcm_token) select id, 'phone', 'token-' || id from unnest($1::uuid[]) as id`,
    [userIds],
  );

const onSale = (kickoffAt = inHours(48)): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { kickoff_at: kickoffAt, max_tickets_per_fan: 4, sectors: [seated('East A', 10, 20)] });

async function buyer(match: MatchOnSale, quantity = 1): Promise<string> {
  const fan = randomUUID();
  const ordered = await office.ordered(await office.held(match, { as: fan, quantity }));
  await office.settle(office.report(ordered));
  return fan;
}

/** Inserts one ticket for each of `count` fans directly, because buying 1,200 tickets would take too long. */
async function sellTickets(match: MatchOnSale, count: number): Promise<void> {
  await office.rows(
    `with sold as (
       insert into tickets (id, order_id, match_id, user_id, seat_id, sector, row_label, number, holder_name)
       select gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'East A', '1', n, 'Fan ' || n
       from generate_series(1, $2) as n returning user_id, order_id
     ) insert into fans (user_id, email, locale) select user_id, 'fan-' || user_id || '@example.hr', 'en' from sold`,
    [match.id, count],
  );
}

const change = (match: MatchOnSale, body: Record<string, unknown>) =>
  office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body });

/** Runs all waiting jobs, after relaying them from the outbox. Returns how many jobs it ran. */
async function runJobs(): Promise<number> {
  const jobs = office.monolith.get(JobsApi);
  const relay = office.monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'jobs');
  let done = 0;
  // The search of matches has jobs too, which send no notices.
  await office.rows(
    `with other as (delete from jobs where class = 'index_match') delete from outbox where event = 'job.index_match'`,
  );
  for (;;) {
    while (((await relay?.runOnce()) ?? 0) > 0);
    const did = await jobs.consume({ limit: 1, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal });
    if (did === 0) return done;
    done += did;
  }
}

async function mails(template: string): Promise<Mail[]> {
  const rows = await office.rows<{ body: Mail }>(
    `select body from outbox where destination = 'email' and body ->> 'template' = $1 order by seq`,
    [template],
  );
  return rows.map(({ body }) => body);
}

test('ticket holders get a mail that the match was moved, with the old kick-off and venue; fans without a ticket do not', async () => {
  const kickoff = inHours(48);
  const match = await onSale(kickoff);
  const [fan] = [await buyer(match), await onSale()];
  await office.held(match);
  const moved = inHours(72);
  expect((await change(match, { kickoff_at: moved, venue: 'Poljud' })).status).toBe(200);
  await runJobs();
  expect(await mails('match_changed')).toMatchObject([
    {
      user_id: fan,
      recipient: 'ana@example.hr',
      about: { match_id: match.id },
      useful_until: moved,
      payload: {
        match_name: 'Hrvatska vs Italija',
        change: 'moved',
        kickoff_at: moved,
        venue: 'Poljud',
        previous_kickoff_at: kickoff,
        previous_venue: 'Maksimir',
        locale: 'hr',
      },
    },
  ]);
});

test('the phones of all ticket holders get one broadcast about the move, once each, in the holder’s language, as jobs of at most 500', async () => {
  const match = await onSale();
  const fan = await buyer(match);
  await sellTickets(match, 1200);
  const holders = await office.rows<{ user_id: string }>('select distinct user_id from tickets where match_id = $1', [match.id]);
  await givePhones([...holders.map(({ user_id }) => user_id), randomUUID()]);
  const moved = inHours(72);
  await change(match, { kickoff_at: moved });
  expect(await runJobs()).toBe(3);
  const jobs = await pushes('match_changed');
  expect(jobs.map(({ range, payload, useful_until }) => [payload.title, range.from, range.to, useful_until])).toEqual([
    ['Promjena: Hrvatska vs Italija', 0, 1, moved],
    ['Changed: Hrvatska vs Italija', 1, 501, moved],
    ['Changed: Hrvatska vs Italija', 501, 1001, moved],
    ['Changed: Hrvatska vs Italija', 1001, 1201, moved],
  ]);
  expect(jobs[0]?.payload.data).toEqual({ match_id: match.id, action: 'open_tickets' });
  expect(new Set(jobs.map(({ broadcast_id }) => broadcast_id)).size).toBe(1);
  const tokens = (await pushedTokens(jobs[0]?.broadcast_id)).map(({ fcm_token }) => fcm_token);
  expect([tokens[0], new Set(tokens).size]).toEqual([`token-${fan}`, 1201]);
}, 60_000);

test('a reminder is pushed once and has the kick-off as `useful_until`; a match whose ticket holders have no device gets no broadcast', async () => {
  const kickoff = inHours(20);
  const [match, matchWithoutDevices] = [await onSale(kickoff), await onSale(inHours(21))];
  const fan = await buyer(match);
  await buyer(matchWithoutDevices);
  await givePhones([fan]);
  await office.monolith.get(Reminders).runOnce();
  await runJobs();
  expect(await pushes('match_reminder')).toMatchObject([{ range: { from: 0, to: 1 }, useful_until: kickoff }]);
  expect(await office.rows(`select devices from broadcasts where template = 'match_reminder'`)).toEqual([{ devices: 1 }]);
});

test('a change of a match that keeps kick-off and venue sends no notice', async () => {
  const kickoff = inHours(48);
  const match = await onSale(kickoff);
  await buyer(match);
  await change(match, { max_tickets_per_fan: 2 });
  await change(match, { kickoff_at: kickoff, venue: 'Maksimir' });
  await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/sale`, { ...ops, body: { action: 'close' } });
  expect(await runJobs()).toBe(0);
});

test('three jobs write the mails to 1,200 ticket holders of a moved match, one for each, in the holder’s language', async () => {
  const match = await onSale();
  await sellTickets(match, 1200);
  await change(match, { venue: 'Poljud' });
  expect(await runJobs()).toBe(3);
  const sent = await mails('match_changed');
  expect([sent.length, new Set(sent.map(({ recipient }) => recipient)).size]).toEqual([1200, 1200]);
  expect(new Set(sent.map(({ payload }) => payload.locale))).toEqual(new Set(['en']));
}, 30_000);

test('after a transfer the receiver gets the notice’s mail at the address of the profile, and the former holder gets none', async () => {
  const match = await onSale();
  const giver = await buyer(match);
  const receiver = randomUUID();
  await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
  const [ticket] = (await office.monolith.call('GET', '/api/v1/tickets', { as: giver })).json.items;
  await giveTicket(office.monolith, { ticketId: ticket.id, from: giver, to: receiver });
  await change(match, { venue: 'Poljud' });
  await runJobs();
  expect((await mails('match_changed')).map(({ user_id, recipient }) => [user_id, recipient])).toEqual([
    [receiver, 'b@example.hr'],
  ]);
});

test('ticket holders get one reminder with their seats within 24 hours of the kick-off, even if three replicas plan it at once', async () => {
  const soon = await onSale(inHours(20));
  await onSale(inHours(30));
  const fan = await buyer(soon, 2);
  const reminders = office.monolith.get(Reminders);
  const planned = await Promise.all([reminders.runOnce(), reminders.runOnce(), reminders.runOnce()]);
  expect(planned.reduce((sum, n) => sum + n, 0)).toBe(1);
  expect(await reminders.runOnce()).toBe(0);
  await runJobs();
  const [mail, ...others] = await mails('match_reminder');
  expect([mail?.user_id, others]).toEqual([fan, []]);
  expect(mail?.payload.tickets).toEqual([
    { sector: 'East A', row: expect.any(String), seat: expect.any(String) },
    { sector: 'East A', row: expect.any(String), seat: expect.any(String) },
  ]);
});

test('after a cancellation ticket holders get only that notice: no reminder and no notice of an earlier move', async () => {
  const match = await onSale(inHours(20));
  await givePhones([await buyer(match)]);
  const reminders = office.monolith.get(Reminders);
  await reminders.runOnce();
  await change(match, { venue: 'Poljud' });
  const body = { reason: 'Snow' };
  await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body });
  await runJobs();
  expect([await mails('match_reminder'), (await mails('match_changed')).map(({ payload }) => payload.change)]).toEqual([
    [],
    ['cancelled'],
  ]);
  expect((await pushes('match_changed')).map(({ payload }) => payload.title)).toEqual(['Otkazano: Hrvatska vs Italija']);
  await office.rows('truncate match_reminders');
  expect(await reminders.runOnce()).toBe(0);
});

test('a planned reminder is not sent if the match was moved beyond 24 hours; a new kick-off within 24 hours gets a new reminder', async () => {
  const match = await onSale(inHours(20));
  await buyer(match);
  const reminders = office.monolith.get(Reminders);
  await reminders.runOnce();
  await change(match, { kickoff_at: inHours(40) });
  await runJobs();
  expect(await mails('match_reminder')).toEqual([]);
  await change(match, { kickoff_at: inHours(22) });
  expect(await reminders.runOnce()).toBe(1);
  await runJobs();
  expect(await mails('match_reminder')).toHaveLength(1);
});
