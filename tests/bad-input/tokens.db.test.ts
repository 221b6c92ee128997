import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { sendOverSocket } from './calls.ts';
import { FAN_ID, INTERNAL_SECRET, openServices, type Service, type Services } from './system.ts';

// Sends valid and invalid access tokens, signed like an identity provider signs them, to both services.

const ISSUER = 'https://id.example.hr';
const AUDIENCE = 'tribina';
const matchId = randomUUID();

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let rsa: Keys;
let otherIssuer: Keys;
let provider: Server;
let system: Services;

beforeAll(async () => {
  [rsa, otherIssuer] = await Promise.all([generateKeyPair('RS256', { extractable: true }), generateKeyPair('RS256')]);
  const jwk: JWK = { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' };
  provider = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] })),
  );
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  system = await openServices({
    AUTH_MODE: 'jwt',
    JWT_JWKS_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
  });
  const headers = { 'x-internal-auth': INTERNAL_SECRET, 'content-type': 'application/json' };
  for (const [call, payload] of [
    ['restore', '{"complete":true}'],
    ['control', '{"status":"active","max_open_windows":0}'],
  ] as const) {
    const url = `/api/v1/queue/${matchId}/${call}`;
    const { outcome, text } = await sendOverSocket(system.queue, { method: 'PUT', url, headers, payload });
    if (outcome !== '204') throw new Error(`the line was not opened: ${text}`);
  }
});
afterAll(async () => {
  await system.close();
  provider.close();
});

const now = (): number => Math.floor(Date.now() / 1000);

interface Token {
  /** Replaces claims of a valid token; undefined omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The claims as literal JSON text, for numbers that `JSON.stringify` cannot produce. */
  readonly text?: () => string;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly signedBy?: () => Keys;
}

function claimsOf({ claims = {} }: Token): Record<string, unknown> {
  return { sub: FAN_ID, iss: ISSUER, aud: AUDIENCE, iat: now(), exp: now() + 300, ...claims };
}

function sign(token: Token): Promise<string> {
  const { text, header = {}, signedBy = () => rsa } = token;
  const payload = text ? text() : JSON.stringify(claimsOf(token));
  const protectedHeader = { alg: 'RS256', kid: 'rsa', typ: 'JWT', ...header };
  return new CompactSign(Buffer.from(payload)).setProtectedHeader(protectedHeader).sign(signedBy().privateKey);
}

const withTime = (name: string, value: string) => (): string => {
  const { [name]: _, ...otherClaims } = claimsOf({});
  return `${JSON.stringify(otherClaims).slice(0, -1)},"${name}":${value}}`;
};

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A read of each service that needs a valid token. With a valid token the answer is 200, or 404 for a fan who is not in the line. */
const calls: readonly [keyof Services & ('monolith' | 'queue'), string][] = [
  ['monolith', '/api/v1/me'],
  ['queue', `/api/v1/queue/${matchId}/position`],
];

const callWithToken = (service: Service, url: string, token: string) =>
  sendOverSocket(service, { method: 'GET', url, headers: { authorization: `Bearer ${token}` } });

const validTokens: readonly [string, Token][] = [
  ['of type JWT', {}],
  ['of type jwt in small letters', { header: { typ: 'jwt' } }],
  ['of type at+jwt', { header: { typ: 'at+jwt' } }],
  ['of type AT+JWT', { header: { typ: 'AT+JWT' } }],
  ['of type application/at+jwt', { header: { typ: 'application/at+jwt' } }],
  ['of type application/jwt', { header: { typ: 'Application/JWT' } }],
  ['that names no type', { header: { typ: undefined } }],
  ['without an issue time', { claims: { iat: undefined } }],
  ['with fractions of a second', { claims: { iat: now() - 0.5, nbf: now() - 0.5, exp: now() + 300.5 } }],
  ['issued three seconds in the future', { claims: { iat: now() + 3, nbf: now() + 3 } }],
  ['for several audiences', { claims: { aud: ['other', AUDIENCE] } }],
  ['whose subject is in capital letters', { claims: { sub: FAN_ID.toUpperCase() } }],
  ['whose roles are text', { claims: { roles: 'ops' } }],
  ['whose roles are an object', { claims: { roles: { ops: true } } }],
  ['whose roles are a list without text', { claims: { roles: [7, null, { ops: 1 }, ['ops']] } }],
];

test.each(validTokens)('an access token %s is accepted by both services', async (_, token) => {
  const answers = await Promise.all(calls.map(async ([name, url]) => callWithToken(system[name], url, await sign(token))));
  expect(answers.map(({ outcome }) => outcome)).toEqual(['200', '404 NOT_FOUND']);
});

test('a role is what the presented token says: the next token without the role of the last one is refused with 403', async () => {
  const withRoles = (...roles: string[]) => sign({ claims: { roles } });
  const send = async (method: string, url: string, token: string) =>
    (await sendOverSocket(system.monolith, { method, url, headers: { authorization: `Bearer ${token}` } })).outcome;
  const orders = async (...roles: string[]) => send('GET', '/api/v1/ops/orders', await withRoles(...roles));
  const lift = async (...roles: string[]) => send('DELETE', `/api/v1/ops/blacklist/${FAN_ID}`, await withRoles(...roles));
  expect([await orders('ops:read'), await orders(), await orders('ops:read')]).toEqual(['200', '403 FORBIDDEN', '200']);
  expect([await lift('ops:money', 'ops:lists'), await lift('ops:money'), await lift('ops:lists')]).toEqual([
    '204',
    '403 FORBIDDEN',
    '204',
  ]);
});

const invalidTimes = [
  '"soon"',
  '"1790000000"',
  'null',
  'true',
  '[]',
  '[1790000000]',
  '{}',
  '-1',
  '1e400',
  '-1e400',
  '1e300',
  '253402300800',
  '1790000000000',
];

const invalidTokens: readonly [string, Token][] = [
  ['whose subject is a list', { claims: { sub: [FAN_ID] } }],
  ['whose subject is a list of two', { claims: { sub: [FAN_ID, FAN_ID] } }],
  ['whose subject is an object', { claims: { sub: { id: FAN_ID } } }],
  ['whose subject is an object that resembles a string', { claims: { sub: { toLowerCase: FAN_ID, length: 36 } } }],
  ['whose subject is a number', { claims: { sub: 7 } }],
  ['whose subject is true', { claims: { sub: true } }],
  ['whose subject is null', { claims: { sub: null } }],
  ['whose subject is empty', { claims: { sub: '' } }],
  ['whose subject is no UUID', { claims: { sub: 'ana' } }],
  ['whose subject has a line break at the end', { claims: { sub: `${FAN_ID}\n` } }],
  ['without a subject', { claims: { sub: undefined } }],
  ['without an expiry time', { claims: { exp: undefined } }],
  ...['exp', 'iat', 'nbf'].flatMap((name) =>
    invalidTimes.map((value): [string, Token] => [`whose ${name} is ${value}`, { text: withTime(name, value) }]),
  ),
  ['that has expired', { claims: { exp: now() - 60 } }],
  ['issued one minute in the future', { claims: { iat: now() + 60 } }],
  ['not valid before one minute from now', { claims: { nbf: now() + 60 } }],
  ...['JWS', 'id+jwt', 'logout+jwt', 'application/json', 'text/jwt', '', 7, null, true, ['JWT'], { typ: 'JWT' }].map(
    (typ): [string, Token] => [`of type ${JSON.stringify(typ)}`, { header: { typ } }],
  ),
  ['of an audience that is a number', { claims: { aud: 7 } }],
  ['of an audience that is an object', { claims: { aud: { [AUDIENCE]: true } } }],
  ['of a list of issuers', { claims: { iss: [ISSUER] } }],
  ['whose claims are a list', { text: () => JSON.stringify([claimsOf({})]) }],
  ['whose claims are null', { text: () => 'null' }],
  ['whose claims are text', { text: () => JSON.stringify(FAN_ID) }],
  ['whose claims are not JSON', { text: () => '{"sub":' }],
  ['whose claims are empty', { text: () => '' }],
  ['signed with the key of another issuer', { signedBy: () => otherIssuer }],
  ['with an unknown key id', { header: { kid: 'unknown' } }],
  ['whose key id is a number', { header: { kid: 7 } }],
  ['whose key id is a list', { header: { kid: ['rsa'] } }],
];

test.each(invalidTokens)('an access token %s is refused with 401 by both services', async (_, token) => {
  const answers = await Promise.all(calls.map(async ([name, url]) => callWithToken(system[name], url, await sign(token))));
  expect(answers.map(({ outcome }) => outcome)).toEqual(['401 UNAUTHENTICATED', '401 UNAUTHENTICATED']);
});

test.each<[string, (claims: string) => string]>([
  ['without a signature', (claims) => `${base64({ alg: 'none' })}.${claims}.`],
  ['whose algorithm is a number', (claims) => `${base64({ alg: 7, kid: 'rsa' })}.${claims}.x`],
  ['whose algorithm is a list', (claims) => `${base64({ alg: ['RS256'], kid: 'rsa' })}.${claims}.x`],
  ['whose header is a list', (claims) => `${base64(['RS256'])}.${claims}.x`],
  ['whose header is null', (claims) => `${base64(null)}.${claims}.x`],
  ['whose header is not JSON', (claims) => `e30e30.${claims}.x`],
  ['whose crit is text', (claims) => `${base64({ alg: 'RS256', kid: 'rsa', crit: 'exp' })}.${claims}.x`],
  ['of two dots', () => '..'],
])('an access token that the test assembles by hand, %s, is refused with 401 by both services', async (_, forge) => {
  const token = forge(base64(claimsOf({})));
  const answers = await Promise.all(calls.map(([name, url]) => callWithToken(system[name], url, token)));
  expect(answers.map(({ outcome }) => outcome)).toEqual(['401 UNAUTHENTICATED', '401 UNAUTHENTICATED']);
});

test('an SSE stream and a WebSocket need only the queue token: an invalid access token in the same request is ignored', async () => {
  const authorization = `Bearer ${await sign({})}`;
  const join = await sendOverSocket(system.queue, {
    method: 'POST',
    url: `/api/v1/queue/${matchId}/join`,
    headers: { authorization },
  });
  expect(join.outcome).toMatch(/^20[01]$/);
  const { queue_token: token } = JSON.parse(join.text) as { queue_token: string };
  const invalidAuthorization = { authorization: `Bearer ${await sign({ claims: { sub: [FAN_ID] } })}` };
  const base = `127.0.0.1:${system.queue.port}`;
  const stop = new AbortController();
  const stream = await fetch(`http://${base}/sse/${token}`, { headers: invalidAuthorization, signal: stop.signal });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/event-stream')]);
  stop.abort();
  const socket = new WebSocket(`ws://${base}/ws/${token}`, { headers: invalidAuthorization });
  const [first] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(first.toString())).toMatchObject({ type: 'position_update' });
  socket.close();
});
