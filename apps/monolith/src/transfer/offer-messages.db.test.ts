import { emailJob, pushJob } from '#contracts/queue-jobs';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { TransferOffice } from '../purchase/testing/transfer-office.ts';
import { putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { EndOffers } from './end-offers.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let transfers: TransferOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  transfers = new TransferOffice(office);
  match = await putOnSale(office.monolith, { max_tickets_per_fan: 4, sectors: [seated('East A')] });
});
afterAll(() => opened.close());

const mailsOf = async (offerId: string) =>
  (await transfers.messages(offerId))
    .filter(({ destination }) => destination === 'email')
    .map(({ body }) => emailJob.parse(body));
const addPhone = (fan: string, token: string) =>
  office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: fan, body: { fcm_token: token } });

test('an offer to an address is one mail in the giver’s language, without a push and without a search for its account', async () => {
  const giver = await transfers.fan({ locale: 'en' });
  const { tickets } = await transfers.buyer(match, 1, giver);
  const account = await transfers.fan({ email: 'b@example.hr', locale: 'hr' });
  await addPhone(account, 'token-of-b');
  const id = await transfers.offered(tickets[0], giver, 'b@example.hr', { holder_name: 'Click evil.example' });
  const messages = await transfers.messages(id);
  expect(messages.map(({ destination, event }) => [destination, event])).toEqual([['email', 'transfer.offered']]);
  const [mail] = await mailsOf(id);
  const [offer] = await transfers.transfers(giver);
  expect(mail).toMatchObject({
    ...{ template: 'transfer_offer', recipient: 'b@example.hr', about: { match_id: match.id, transfer_id: id } },
    ...{ useful_until: offer.expires_at },
    payload: {
      ...{ match_name: 'Hrvatska vs Italija', venue: 'Maksimir', locale: 'en', expires_at: offer.expires_at },
      ticket: { sector: 'East A', row: expect.any(String), seat: expect.any(String) },
    },
  });
  // Nothing that a fan has typed, and no id of a fan.
  expect(JSON.stringify(messages)).not.toMatch(new RegExp(`evil|${giver}|${account}`));
});

test('an offer to a fan is a mail to the address of the profile, and a push to the fan’s devices', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan({ email: 'c@example.hr', locale: 'en' });
  await addPhone(receiver, 'token-of-c');
  const id = await transfers.offered(tickets[0], fan, receiver);
  const [mail] = await mailsOf(id);
  expect(mail).toMatchObject({ recipient: 'c@example.hr', user_id: receiver, payload: { locale: 'en' } });
  const push = (await transfers.messages(id)).find(({ destination }) => destination === 'push');
  expect(pushJob.parse(push?.body)).toMatchObject({
    ...{ template: 'transfer_offer', user_id: receiver, fcm_tokens: ['token-of-c'] },
    payload: { title: 'You are offered a ticket', data: { transfer_id: id, match_id: match.id, action: 'open_transfers' } },
  });
});

test('an offer to a fan without an address and without a device sends nothing', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  expect(await transfers.messages(await transfers.offered(tickets[0], fan, await transfers.fan()))).toEqual([]);
});

test.each([
  ['accepted', 'ticket.transferred'],
  ['declined', 'transfer.declined'],
  ['expired', 'transfer.expired'],
])('the giver of an offer that was %s gets one mail, at the address of the order', async (outcome, event) => {
  const giver = await transfers.fan({ email: 'other@example.hr', locale: 'en' });
  const { tickets } = await transfers.buyer(match, 1, giver);
  const receiver = await transfers.fan();
  const id = await transfers.offered(tickets[0], giver, receiver);
  if (outcome === 'accepted') await transfers.accept(id, receiver);
  if (outcome === 'declined') await transfers.decline(id, receiver);
  if (outcome === 'expired') {
    await transfers.lapse(id);
    await office.monolith.get(EndOffers).expireDue();
  }
  for (const again of [() => transfers.accept(id, receiver), () => transfers.decline(id, receiver)]) await again();
  const [mail, ...others] = await mailsOf(id);
  expect([(await transfers.messages(id))[0]?.event, others]).toEqual([event, []]);
  expect(mail).toMatchObject({
    ...{ template: 'transfer_answer', recipient: 'ana@example.hr', user_id: giver },
    payload: { outcome, locale: 'en', match_name: 'Hrvatska vs Italija' },
  });
  expect(JSON.stringify(mail)).not.toContain(receiver);
});

test('a giver who got the ticket by transfer gets the answer at the address of the profile', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const second = await transfers.fan({ email: 'second@example.hr' });
  await transfers.give(tickets[0], fan, second);
  const [received] = await transfers.tickets(second);
  const third = await transfers.fan();
  const id = await transfers.offered(received!, second, third);
  await transfers.decline(id, third);
  expect((await mailsOf(id)).at(-1)).toMatchObject({ template: 'transfer_answer', recipient: 'second@example.hr' });
});

test('a giver who withdraws gets no mail', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const id = await transfers.offered(tickets[0], fan, await transfers.fan());
  await transfers.withdraw(id, fan);
  expect(await transfers.messages(id)).toEqual([]);
});
