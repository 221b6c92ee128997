import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hoursFromNow, partner, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;

beforeAll(async () => {
  opened = await openBoxOffice({ PUBLIC_URL: 'https://tickets.example.hr' });
  calls = new QuotaCalls(opened.office);
});
afterAll(() => opened.close());

/** A match with a seated sector of 5 rows with 10 seats, a standing sector of 20 places, and one for people in wheelchairs. */
const onSale = (): Promise<MatchOnSale> =>
  putOnSale(opened.office.monolith, {
    sectors: [
      seated('East A'),
      { name: 'Terrace', kind: 'standing', price_cents: 1200, capacity: 20 },
      { ...seated('Low', 1, 4), wheelchair: true },
    ],
  });
const places = (match: MatchOnSale, quantity: number, sector = 0) => [{ sector_id: match.sectors[sector]?.id, quantity }];
const faults = async (match: MatchOnSale): Promise<unknown[]> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).invariants.flatMap(({ rows }) => rows);
const guest = (fields: object = {}) => ({ email: 'ana@example.hr', quantity: 1, ...fields });
const guests = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, index) => guest({ email: `guest${index}@example.hr`, ...fields }));
const verdicts = ({ json }: TestAnswer): string[] =>
  json.items.map(({ status, code }: { status: string; code?: string }) => (code ? `${status} ${code}` : status));
/** The mails of invitations to the places of a match. */
const mails = async (match: MatchOnSale): Promise<TestAnswer['json'][]> =>
  (
    await opened.office.rows<{ body: unknown }>(
      `select body from outbox where event = 'quota.invitation' and body->'about'->>'match_id' = $1 order by seq`,
      [match.id],
    )
  ).map(({ body }) => body);

describe('a list of invitations', () => {
  test('binds places side by side, and each invitation is listed and mailed with its link', async () => {
    const match = await onSale();
    const quota = await calls.created(match, { places: places(match, 20), name: 'Torcida', claim_until: hoursFromNow(5) });
    const rows = [
      guest({ name: 'Ana Anić', quantity: 4, locale: 'en', note: 'board' }),
      guest({ email: 'Ivo@Example.hr', quantity: 2, user_id: randomUUID() }),
    ];
    const answer = await calls.invite(quota, rows, { list_key: 'sponsors' });
    expect(answer.json).toEqual({
      items: [
        { index: 0, status: 'created', id: expect.any(String) as string },
        { index: 1, status: 'created', id: expect.any(String) as string },
      ],
    });
    const [ana, ivo] = await calls.invitations(quota);
    expect(ana).toEqual({
      ...{ id: answer.json.items[0].id, email: 'ana@example.hr', name: 'Ana Anić', quantity: 4, status: 'open' },
      ...{ expires_at: expect.any(String) as string, claimed_at: null, user_id: null, note: 'board', list_key: 'sponsors' },
      created_at: expect.any(String) as string,
      seats: [1, 2, 3, 4].map((at) => ({
        seat_id: expect.any(String) as string,
        sector: 'East A',
        row: ana.seats[0].row,
        number: ana.seats[0].number + at - 1,
      })),
    });
    expect(ivo.seats[1].number - ivo.seats[0].number).toBe(1);
    expect((await calls.quota(quota)).places).toEqual({ total: 20, free: 14, invited: 6, held: 0, sold: 0 });
    const [mail] = await mails(match);
    expect(mail).toMatchObject({
      ...{ type: 'email', template: 'quota_invitation', recipient: 'ana@example.hr' },
      payload: {
        locale: 'en',
        quota_name: 'Torcida',
        tickets_count: 4,
        claim_url: expect.stringMatching(/^https:\/\/tickets\.example\.hr\/invitation#inv_[\w-]{43}$/) as string,
      },
    });
    expect(await faults(match)).toEqual([]);
  });
});
