import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openBoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';

/*
 * The attack: a ticket is offered to an address. Somebody else writes this address into the own profile, or has it in a token in
 * which the identity provider has not verified it, and takes the ticket.
 */
const ISSUER = 'https://id.example.hr';
const AUDIENCE = 'tribina';
const FRIEND = 'friend@example.hr';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let provider: Server;
let opened: OpenBoxOffice;
let offerId: string;

beforeAll(async () => {
  keys = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' };
  provider = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] })),
  );
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  opened = await openBoxOffice({
    AUTH_MODE: 'jwt',
    JWT_JWKS_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
  });
  offerId = await offerToFriend();
});
afterAll(async () => {
  await opened.close();
  provider.close();
});

async function call(
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  claims: Record<string, unknown>,
  body?: object,
): Promise<TestAnswer> {
  const token = await new SignJWT({ sub: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'rsa' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime('5m')
    .sign(keys.privateKey);
  return opened.office.monolith.call(method, `/api/v1/${url}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(body ? { body } : {}),
  });
}

/** Stores a match with one valid ticket, and offers this ticket to the address. */
async function offerToFriend(): Promise<string> {
  const { office } = opened;
  const [match, fan, ticket] = [randomUUID(), randomUUID(), randomUUID()];
  await office.rows(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     values ($1, 'Hrvatska', 'Italija', 'Maksimir', now() + interval '9 days', 'EUR', 4, false, 'open', 600, 1000)`,
    [match],
  );
  await office.rows(
    `insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name)
     values ($1, gen_random_uuid(), $2, $3, gen_random_uuid(), 'East A', 'Ana')`,
    [ticket, match, fan],
  );
  const { status, json, text } = await call('POST', `tickets/${ticket}/transfer`, { sub: fan }, { to_email: FRIEND });
  if (status !== 202) throw new Error(text);
  return json.id;
}

test.each([
  ['with the address in the own profile only', {}, true],
  ['whose token has the address, not verified', { email: FRIEND, email_verified: false }, false],
  ['whose token does not say whether the address is verified', { email: FRIEND }, false],
  ['whose token says “true” as text', { email: FRIEND, email_verified: 'true' }, false],
  ['whose token has another verified address', { email: 'thief@example.hr', email_verified: true }, true],
  ['whose token has a list of addresses', { email: [FRIEND], email_verified: true }, false],
])('a caller %s neither sees nor gets the ticket', async (_what, claims, hasProfile) => {
  const thief = { ...claims, sub: randomUUID() };
  if (hasProfile) {
    const stored = await call('PUT', 'me', thief, { email: FRIEND, name: 'Friend', locale: 'hr' });
    expect(stored.status).toBe(200);
  }
  expect((await call('GET', 'transfers', thief)).json.items).toEqual([]);
  for (const answer of ['accept', 'decline'])
    expect((await call('POST', `transfers/${offerId}/${answer}`, thief)).json.code).toBe('NOT_FOUND');
});

test('a caller whose token has the verified address gets the ticket, in any case of letters and without a profile', async () => {
  const friend = { sub: randomUUID(), email: 'Friend@Example.hr', email_verified: true };
  expect((await call('GET', 'transfers', friend)).json.items).toMatchObject([
    { id: offerId, role: 'receiver', status: 'offered' },
  ]);
  const { status, json } = await call('POST', `transfers/${offerId}/accept`, friend);
  expect([status, json.status]).toEqual([200, 'accepted']);
  expect((await call('GET', 'tickets', friend)).json.items).toMatchObject([{ id: json.new_ticket_id, status: 'valid' }]);
});
