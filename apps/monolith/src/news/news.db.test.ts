import { randomUUID } from 'node:crypto';
import { JobsApi } from '../jobs/jobs.api.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { PlanReminders } from './application/plan-reminders.ts';

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
beforeEach(async () => void (await office.rows('truncate jobs, outbox, match_reminders, matches cascade')));
afterAll(async () => opened.close());

interface Mail {
  readonly recipient: string;
  readonly user_id: string;
  readonly template: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly useful_until: string;
}

const onSale = (kickoffAt = inHours(48)): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { kickoff_at: kickoffAt, max_tickets_per_fan: 4, sectors: [seated('East A', 10, 20)] });

async function buyer(match: MatchOnSale, quantity = 1): Promise<string> {
  const fan = randomUUID();
  const ordered = await office.ordered(await office.held(match, { as: fan, quantity }));
  await office.settle(office.news(ordered));
  return fan;
}

/** As if each of them had bought one: what selling writes of a ticket, without selling. */
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

async function doJobs(): Promise<number> {
  const jobs = office.monolith.get(JobsApi);
  const relay = office.monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'jobs');
  let done = 0;
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

test('whoever has a ticket is told that the match was moved, with what was before; nobody else', async () => {
  const kickoff = inHours(48);
  const match = await onSale(kickoff);
  const [fan] = [await buyer(match), await onSale()];
  await office.held(match);
  const moved = inHours(72);
  expect((await change(match, { kickoff_at: moved, venue: 'Poljud' })).status).toBe(200);
  await doJobs();
  expect(await mails('match_changed')).toMatchObject([
    {
      user_id: fan,
      recipient: 'ana@example.hr',
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

test('a change of other facts, or of nothing, is no news', async () => {
  const kickoff = inHours(48);
  const match = await onSale(kickoff);
  await buyer(match);
  await change(match, { max_tickets_per_fan: 2 });
  await change(match, { kickoff_at: kickoff, venue: 'Maksimir' });
  await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/sale`, { ...ops, body: { action: 'close' } });
  expect(await doJobs()).toBe(0);
});

test('1,200 fans are told in three pages, each once, in their language', async () => {
  const match = await onSale();
  await sellTickets(match, 1200);
  await change(match, { venue: 'Poljud' });
  expect(await doJobs()).toBe(3);
  const told = await mails('match_changed');
  expect([told.length, new Set(told.map(({ recipient }) => recipient)).size]).toEqual([1200, 1200]);
  expect(new Set(told.map(({ payload }) => payload.locale))).toEqual(new Set(['en']));
}, 30_000);

test('who was given a ticket is told at the address of the profile, and its giver no more', async () => {
  const match = await onSale();
  const giver = await buyer(match);
  const receiver = randomUUID();
  await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
  const [ticket] = (await office.monolith.call('GET', '/api/v1/tickets', { as: giver })).json.items;
  const body = { to_user_id: receiver, holder_name: 'Barbara' };
  await office.monolith.call('POST', `/api/v1/tickets/${ticket.id}/transfer`, { as: giver, body });
  await change(match, { venue: 'Poljud' });
  await doJobs();
  expect((await mails('match_changed')).map(({ user_id, recipient }) => [user_id, recipient])).toEqual([
    [receiver, 'b@example.hr'],
  ]);
});

test('fans are reminded once in the last day, with their seats, however many replicas look', async () => {
  const soon = await onSale(inHours(20));
  await onSale(inHours(30));
  const fan = await buyer(soon, 2);
  const planReminders = office.monolith.get(PlanReminders);
  const planned = await Promise.all([planReminders.execute(), planReminders.execute(), planReminders.execute()]);
  expect(planned.reduce((sum, n) => sum + n, 0)).toBe(1);
  expect(await planReminders.execute()).toBe(0);
  await doJobs();
  const [mail, ...others] = await mails('match_reminder');
  expect([mail?.user_id, others]).toEqual([fan, []]);
  expect(mail?.payload.tickets).toEqual([
    { sector: 'East A', row: expect.any(String), seat: expect.any(String) },
    { sector: 'East A', row: expect.any(String), seat: expect.any(String) },
  ]);
});

test('of a cancelled match nobody is reminded, nor told any more that it was moved', async () => {
  const match = await onSale(inHours(20));
  await buyer(match);
  const planReminders = office.monolith.get(PlanReminders);
  await planReminders.execute();
  await change(match, { venue: 'Poljud' });
  const body = { reason: 'Snow' };
  await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body });
  await doJobs();
  expect([await mails('match_reminder'), (await mails('match_changed')).map(({ payload }) => payload.change)]).toEqual([
    [],
    ['cancelled'],
  ]);
  await office.rows('truncate match_reminders');
  expect(await planReminders.execute()).toBe(0);
});

test('a match that is moved after its reminder is reminded of again; one moved away meanwhile is not', async () => {
  const match = await onSale(inHours(20));
  await buyer(match);
  const planReminders = office.monolith.get(PlanReminders);
  await planReminders.execute();
  await change(match, { kickoff_at: inHours(40) });
  await doJobs();
  expect(await mails('match_reminder')).toEqual([]);
  await change(match, { kickoff_at: inHours(22) });
  expect(await planReminders.execute()).toBe(1);
  await doJobs();
  expect(await mails('match_reminder')).toHaveLength(1);
});
