import { randomUUID } from 'node:crypto';
import { RefundActions } from '../../apps/monolith/src/purchase/testing/refunding.ts';
import { statusAndCode, TransferOffice } from '../../apps/monolith/src/purchase/testing/transfer-office.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';
import { unguardedTransfers } from './unguarded-transfers.ts';

const ROUNDS = 12;
const REFUSED = '409 INVALID_STATE';

let replicas: Replicas;
/** The same fans at the two replicas. */
let here: TransferOffice;
let there: TransferOffice;

beforeAll(async () => {
  replicas = await openReplicas();
  [here, there] = [new TransferOffice(replicas.offices[0]), new TransferOffice(replicas.offices[1])];
});
afterAll(() => replicas.close());

const onSale = (limit = 4): Promise<MatchOnSale> =>
  putOnSale(here.office.monolith, { max_tickets_per_fan: limit, sectors: [seated('East A', 10, 20)] });
const runRounds = <T>(round: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: ROUNDS }, () => round()));
const validOf = async (...fans: string[]): Promise<number> =>
  (await Promise.all(fans.map((fan) => here.tickets(fan)))).flat().filter(({ status }) => status === 'valid').length;
const outcomes = (...answers: TestAnswer[]): string => answers.map(statusAndCode).join(', ');

async function offered(match: MatchOnSale, to?: string) {
  const { fan, tickets } = await here.buyer(match);
  const receiver = await here.fan();
  return { fan, receiver, ticket: tickets[0], id: await here.offered(tickets[0], fan, to ?? receiver) };
}

test('two acceptances by one fan at once, over two replicas: both are answered 200 with the same ticket', async () => {
  const match = await onSale();
  const played = await runRounds(async () => {
    const { id, receiver } = await offered(match);
    const answers = await Promise.all([here.accept(id, receiver), there.accept(id, receiver)]);
    return { answers, valid: await validOf(receiver) };
  });
  report('two acceptances', tally(played.flatMap(({ answers }) => answers)));
  for (const { answers, valid } of played) {
    expect([outcomes(...answers), valid]).toEqual(['200, 200', 1]);
    expect(answers[0]?.json.new_ticket_id).toBe(answers[1]?.json.new_ticket_id);
  }
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('two fans with one address accept an offer to it at once: exactly one gets the ticket', async () => {
  const match = await onSale();
  const played = await runRounds(async () => {
    const email = `${randomUUID()}@example.hr`;
    const { id } = await offered(match, email);
    const fans = [await here.fan({ email }), await here.fan({ email: email.toUpperCase() })] as const;
    const answers = await Promise.all([here.accept(id, fans[0]), there.accept(id, fans[1])]);
    return { answers, valid: await validOf(...fans) };
  });
  report('two fans with one address', tally(played.flatMap(({ answers }) => answers)));
  for (const { answers, valid } of played) expect([answers.map(statusAndCode).sort(), valid]).toEqual([['200', REFUSED], 1]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('acceptance and withdrawal at once: either the ticket is the receiver’s, or the withdrawal was answered 204', async () => {
  const match = await onSale();
  const played = await runRounds(async () => {
    const { id, fan, receiver } = await offered(match);
    const [accepted, withdrawn] = await Promise.all([here.accept(id, receiver), there.withdraw(id, fan)]);
    return { answers: outcomes(accepted, withdrawn), valid: [await validOf(fan), await validOf(receiver)].join() };
  });
  report('acceptance and withdrawal', { accepted: played.filter(({ valid }) => valid === '0,1').length });
  for (const { answers, valid } of played)
    expect([`200, ${REFUSED} 0,1`, `${REFUSED}, 204 1,0`]).toContain(`${answers} ${valid}`);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('acceptance, decline, withdrawal and refund at once: exactly one of acceptance and refund takes effect, and nobody has two tickets', async () => {
  const match = await onSale();
  const operators = new RefundActions(there.office);
  const played = await runRounds(async () => {
    const ordered = await operators.paid(match);
    const fan = ordered.held.userId;
    const [ticket] = await here.tickets(fan);
    const receiver = await here.fan();
    const id = await here.offered(ticket!, fan, receiver);
    const [accepted, refunded, ...ended] = await Promise.all([
      here.accept(id, receiver),
      operators.refund(ordered, [ticket!.id]),
      here.decline(id, receiver),
      there.withdraw(id, fan),
    ]);
    const [offer] = await here.transfers(fan);
    return { accepted, refunded, ended, status: offer?.status, valid: await validOf(fan, receiver) };
  });
  report('acceptance, refund, decline, withdrawal', tally(played.flatMap(({ accepted, refunded }) => [accepted, refunded])));
  for (const { accepted, refunded, ended, status, valid } of played) {
    expect([accepted, refunded, ...ended].filter((answer) => answer.status >= 500)).toEqual([]);
    if (accepted.status === 200) expect([statusAndCode(refunded), status, valid]).toEqual([REFUSED, 'accepted', 1]);
    else expect([refunded.status, ['declined', 'withdrawn'].includes(status ?? ''), valid]).toEqual([200, true, 0]);
  }
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('a fan who may have one more ticket accepts two offers and holds a seat at once: exactly one of them succeeds', async () => {
  const match = await onSale(1);
  const played = await runRounds(async () => {
    const receiver = await here.fan();
    const [first, second] = [await offered(match, receiver), await offered(match, receiver)];
    const answers = await Promise.all([
      here.accept(first.id, receiver),
      there.accept(second.id, receiver),
      there.office.hold(match, { as: receiver }),
    ]);
    return { answers };
  });
  report('two acceptances and a hold', tally(played.flatMap(({ answers }) => answers)));
  for (const { answers } of played)
    expect(answers.map(statusAndCode).filter((outcome) => outcome !== '409 TICKET_LIMIT_REACHED')).toHaveLength(1);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('acceptances while an operator locks the transfers and cancels the match: no valid ticket changes its owner afterwards', async () => {
  const match = await onSale();
  const offers = await Promise.all(Array.from({ length: ROUNDS }, () => offered(match)));
  const url = `/api/v1/ops/matches/${match.id}`;
  const [locked, cancelled, ...accepted] = await Promise.all([
    there.office.monolith.call('PATCH', url, { ...ops, body: { transfers: 'locked' } }),
    there.office.monolith.call('POST', `${url}/cancel`, { ...ops, body: { reason: 'Snow' } }),
    ...offers.map(({ id, receiver }) => here.accept(id, receiver)),
  ]);
  expect([locked.status, cancelled.status]).toEqual([200, 200]);
  report('acceptances while locked and cancelled', tally(accepted));
  for (const answer of accepted) expect(['200', '409 TRANSFERS_LOCKED', REFUSED]).toContain(statusAndCode(answer));
  for (const { id, receiver } of offers) expect([200, 409]).toContain((await there.accept(id, receiver)).status);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

describe('negative control: without row locks, at READ COMMITTED', () => {
  const receiverOf = (userId: string, email: string | null = null) => ({ userId, email });
  const namesOfFaults = async (match: MatchOnSale): Promise<string[]> =>
    (await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name);
  const fulfilled = (results: readonly PromiseSettledResult<unknown>[]): boolean[] =>
    results.map(({ status }) => status === 'fulfilled');

  test('an offer is accepted although its giver was told that it is withdrawn', async () => {
    const { accept, end } = unguardedTransfers(here.office.monolith);
    const { id, fan, receiver } = await offered(await onSale());
    const results = await Promise.allSettled([
      accept.execute({ offerId: id, receiver: receiverOf(receiver), holderName: null }),
      end.withdraw(id, fan),
    ]);
    expect([fulfilled(results), await validOf(fan), await validOf(receiver)]).toEqual([[true, true], 0, 1]);
  });

  test('two acceptances at once exceed the limit of the receiver, and verify reports it', async () => {
    const match = await onSale(1);
    const { accept } = unguardedTransfers(here.office.monolith);
    const receiver = await here.fan();
    const offers = [await offered(match, receiver), await offered(match, receiver)];
    const results = await Promise.allSettled(
      offers.map(({ id }) => accept.execute({ offerId: id, receiver: receiverOf(receiver), holderName: null })),
    );
    expect([fulfilled(results), await validOf(receiver), await namesOfFaults(match)]).toEqual([[true, true], 2, ['fan-limit']]);
  });

  test('two fans with one address: the unique index on valid tickets stops the second one', async () => {
    const match = await onSale();
    const { accept } = unguardedTransfers(here.office.monolith);
    const { id } = await offered(match, 'one@example.hr');
    const fans = [await here.fan({ email: 'one@example.hr' }), await here.fan({ email: 'one@example.hr' })];
    const results = await Promise.allSettled(
      fans.map((fan) => accept.execute({ offerId: id, receiver: receiverOf(fan, 'one@example.hr'), holderName: null })),
    );
    expect([fulfilled(results).sort(), await validOf(...fans), await namesOfFaults(match)]).toEqual([[false, true], 1, []]);
  });

  // The last test of this file, because the index is gone afterwards.
  test('two fans with one address: without that index both get a ticket for the same seat, and verify reports it', async () => {
    await replicas.dataSource.query('drop index tickets_one_a_seat');
    const match = await onSale();
    const { accept } = unguardedTransfers(here.office.monolith);
    const { id } = await offered(match, 'two@example.hr');
    const fans = [await here.fan({ email: 'two@example.hr' }), await here.fan({ email: 'two@example.hr' })];
    await Promise.allSettled(
      fans.map((fan) => accept.execute({ offerId: id, receiver: receiverOf(fan, 'two@example.hr'), holderName: null })),
    );
    expect(await validOf(...fans)).toBe(2);
    expect(await namesOfFaults(match)).toEqual(expect.arrayContaining(['one-living-ticket', 'accepted-transfers']));
  });
});
