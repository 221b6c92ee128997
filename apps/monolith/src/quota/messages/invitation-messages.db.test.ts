import { TransactionManager } from '#application/transaction-manager';
import { emailJob, pushJob } from '#contracts/queue-jobs';
import { randomUUID } from 'node:crypto';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { killedAtEachStep } from '../../testing/dying-transactions.ts';
import { putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls, type QueuedMessage } from '../testing/invitation-calls.ts';
import { InvitationMessages, type InvitationToSend } from './invitation-messages.ts';
import { newInvitationToken } from './invitation-token.ts';

let opened: OpenBoxOffice;
let guests: InvitationCalls;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice({ PUBLIC_URL: 'https://tickets.example' });
  guests = new InvitationCalls(opened.office);
});
beforeEach(async () => {
  await opened.office.rows('truncate outbox, devices, fans, matches cascade');
  match = await putOnSale(opened.office.monolith);
});
afterAll(() => opened.close());

const invitation = (changes: Partial<InvitationToSend> = {}): InvitationToSend => ({
  id: randomUUID(),
  quotaName: 'Torcida',
  email: 'ana@example.hr',
  name: 'Đurđica Šćepanović-Žižić',
  userId: null,
  locale: 'hr',
  quantity: 2,
  totalCents: 5000,
  claimUntil: new Date('2026-12-01T11:00:00Z'),
  token: newInvitationToken(),
  ...changes,
});

async function send(invitations: readonly InvitationToSend[], transactions = opened.office.monolith.get(TransactionManager)) {
  const catalogMatch = (await opened.office.monolith.get(CatalogApi).match(match.id))!;
  await transactions.run((tx) => opened.office.monolith.get(InvitationMessages).send(tx, catalogMatch, invitations));
}

async function sent(...invitations: readonly InvitationToSend[]): Promise<QueuedMessage[]> {
  await send(invitations);
  return guests.messages(match);
}

const givePhones = (userId: string, tokens: readonly string[]): Promise<unknown> =>
  opened.office.rows(
    `insert into devices (user_id, device_id, fcm_token) select $1, token, token from unnest($2::text[]) as token`,
    [userId, tokens],
  );

test('an invited person gets one mail with name, price, deadline and the link; the worker accepts it', async () => {
  const facts = invitation();
  const [mail, ...others] = await sent(facts);
  expect(others).toEqual([]);
  expect(mail).toMatchObject({ destination: 'email', event: 'quota.invitation' });
  expect(emailJob.parse(mail?.body)).toMatchObject({
    recipient: 'ana@example.hr',
    useful_until: '2026-12-01T11:00:00.000Z',
    about: { match_id: match.id, invitation_id: facts.id },
    payload: {
      match_name: 'Hrvatska vs Italija',
      venue: 'Maksimir',
      locale: 'hr',
      quota_name: 'Torcida',
      invited_name: 'Đurđica Šćepanović-Žižić',
      tickets_count: 2,
      total_amount: '50.00 EUR',
      claim_until: '2026-12-01T11:00:00.000Z',
      claim_url: `https://tickets.example/invitation#${facts.token}`,
    },
  });
  expect(mail?.body.payload).not.toHaveProperty('reminder');
});

test('an invitation without a name has none in its mail', async () => {
  const [mail] = await sent(invitation({ name: null }));
  expect(mail?.body.payload).not.toHaveProperty('invited_name');
});

test('the fan whom the invitation names gets one push job for all devices, in the language of the profile and without the token', async () => {
  const userId = randomUUID();
  await givePhones(userId, ['phone', 'tablet']);
  await givePhones(randomUUID(), ['of-somebody-else']);
  await opened.office.rows(`insert into fans (user_id, email, locale) values ($1, 'ana@example.hr', 'en')`, [userId]);
  const facts = invitation({ userId });
  const [mail, push, ...others] = await sent(facts);
  expect([mail?.destination, push?.destination, others]).toEqual(['email', 'push', []]);
  const job = pushJob.parse(push?.body);
  expect(job).toMatchObject({
    template: 'quota_invitation',
    user_id: userId,
    useful_until: '2026-12-01T11:00:00.000Z',
    payload: {
      title: 'You are invited to claim tickets',
      data: { match_id: match.id, invitation_id: facts.id, action: 'open_invitation' },
    },
  });
  expect([...job.fcm_tokens].sort()).toEqual(['phone', 'tablet']);
  expect(JSON.stringify(push?.body)).not.toContain('inv_');
});

test('an invitation that names no fan sends no push, even if its address is in the profile of a fan with a device', async () => {
  const userId = randomUUID();
  await givePhones(userId, ['phone']);
  await opened.office.rows(`insert into fans (user_id, email, locale) values ($1, 'ana@example.hr', 'hr')`, [userId]);
  expect((await sent(invitation())).map(({ destination }) => destination)).toEqual(['email']);
});

test('500 invitations are written by one call', async () => {
  const begunAt = performance.now();
  const messages = await sent(...Array.from({ length: 500 }, (_, n) => invitation({ email: `fan-${n}@example.hr` })));
  process.stdout.write(`  messages of 500 invitations: ${Math.round(performance.now() - begunAt)} ms\n`);
  expect(new Set(messages.map(({ body }) => body.payload.claim_url)).size).toBe(500);
});

test('a process that is killed at any step before the commit sends no invitation; sent again, there is one mail and one push', async () => {
  const userId = randomUUID();
  await givePhones(userId, ['phone']);
  const facts = invitation({ userId });
  let committed = 0;
  const deaths = await killedAtEachStep(
    opened.office.monolith.get(TransactionManager),
    (transactions) => send([facts], transactions),
    async () => {
      const messages = await guests.messages(match);
      committed += messages.length;
      // Only what follows the commit is too late to undo it: then the caller finds the invitation issued, and does not send again.
      expect([0, 2]).toContain(messages.length);
      await opened.office.rows('truncate outbox');
    },
  );
  expect([deaths, committed]).toEqual([4, 2]);
  expect((await guests.messages(match)).map(({ destination }) => destination)).toEqual(['email', 'push']);
});

describe('with PUSH_PROVIDER=none', () => {
  let silent: OpenBoxOffice;
  beforeAll(async () => void (silent = await openBoxOffice({ PUSH_PROVIDER: 'none' })));
  afterAll(() => silent.close());

  test('the fan whom the invitation names gets a mail and no push', async () => {
    const { monolith, rows } = { monolith: silent.office.monolith, rows: silent.office.rows.bind(silent.office) };
    const other = await putOnSale(monolith);
    const userId = randomUUID();
    await rows(`insert into devices (user_id, device_id, fcm_token) values ($1, 'phone', 'phone')`, [userId]);
    const catalogMatch = (await monolith.get(CatalogApi).match(other.id))!;
    await monolith
      .get(TransactionManager)
      .run((tx) => monolith.get(InvitationMessages).send(tx, catalogMatch, [invitation({ userId })]));
    expect(await rows(`select destination from outbox where event = 'quota.invitation'`)).toEqual([{ destination: 'email' }]);
  });
});
