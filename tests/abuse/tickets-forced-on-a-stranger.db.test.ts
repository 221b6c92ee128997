import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { putOnSale, seated } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: an attacker gives tickets to a stranger who never asked for them. They fill the stranger's limit, so that the stranger
 * cannot buy the seats that he wants.
 */
let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(() => opened.close());

test('a stranger to whom an attacker gives four tickets has none of them, and buys four', async () => {
  const match = await putOnSale(office.monolith, { max_tickets_per_fan: 4, sectors: [seated('East A')] });
  const [attacker, stranger] = [randomUUID(), randomUUID()];
  await office.monolith.call('PUT', '/api/v1/me', { as: stranger, body: { email: null, name: null, locale: 'hr' } });
  await office.settle(office.report(await office.ordered(await office.held(match, { as: attacker, quantity: 4 }))));
  for (const { id } of (await office.monolith.call('GET', '/api/v1/tickets', { as: attacker })).json.items) {
    const body = { to_user_id: stranger, holder_name: 'Nobody' };
    await office.monolith.call('POST', `/api/v1/tickets/${id}/transfer`, { as: attacker, body });
  }
  const tickets = (await office.monolith.call('GET', '/api/v1/tickets', { as: stranger })).json.items;
  const { status, json } = await office.hold(match, { as: stranger, quantity: 4 });
  expect({ tickets: tickets.length, hold: status, code: json.code }).toEqual({ tickets: 0, hold: 201, code: undefined });
});
