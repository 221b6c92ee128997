import { randomUUID } from 'node:crypto';
import { openBoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { ops, putOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: a fan writes a name that looks like another one, with letters of another script or with characters that nobody sees, and
 * it stands on a ticket, in a profile and in a list of invitations.
 */

let opened: OpenBoxOffice;
beforeAll(async () => {
  opened = await openBoxOffice();
});
afterAll(() => opened.close());

const deceptive = [
  ['a Cyrillic а', 'M\u0430rko Horvat'],
  ['a zero width space', 'Marko\u200b Horvat'],
  ['a mark of direction', 'Marko\u200f Horvat'],
  ['a word joiner', 'Mar\u2060ko Horvat'],
  ['a Hangul filler', 'Marko \u3164'],
  ['a joiner between Latin letters', 'Mar\u200dko Horvat'],
] as const;

test.each(deceptive)('a name with %s is refused in a profile, on a ticket and in an invitation', async (_what, name) => {
  const { office } = opened;
  const { call } = office.monolith;
  const as = randomUUID();
  const profile = await call('PUT', '/api/v1/me', { as, body: { email: null, name, locale: 'hr' } });
  expect([profile.status, profile.json.errors?.[0].path]).toEqual([400, 'name']);

  const match = await putOnSale(office.monolith);
  const held = await office.held(match);
  const checkout = await office.checkOut(held, { holders: [{ seat_id: held.seatIds[0], name }] });
  expect([checkout.status, checkout.json.errors?.[0].path]).toEqual([400, 'holders.0.name']);

  const places = [{ sector_id: match.sectors[0]?.id, quantity: 4 }];
  const quota = await call('POST', `/api/v1/ops/matches/${match.id}/quotas`, {
    ...ops,
    body: { name: 'Torcida', kind: 'fan_group', places, on_return: 'keep' },
  });
  expect(quota.status).toBe(201);
  const invitations = [{ email: 'marko@example.hr', name, quantity: 1 }];
  const invited = await call('POST', `/api/v1/quotas/${quota.json.id}/invitations`, { ...ops, body: { invitations } });
  expect(invited.json.items[0]).toMatchObject({ status: 'refused', code: 'VALIDATION_FAILED' });
});
