import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { identifyCallers, type IdentifyCaller } from './identity.ts';

const ANA = '0190a000-0000-7000-8000-00000000000a';
const ISSUER = 'https://id.example.hr';
const AUDIENCE = 'tribina';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let rsa: Keys;
let ec: Keys;
let strangerKeys: Keys;
let publicJwk: JWK;
let provider: Server;
let jwks: { status: number; body: string };
let identify: IdentifyCaller;

/** Starts an identity provider that serves its public keys. A test can change its answer in `jwks`. */
async function startProvider(): Promise<string> {
  provider = createServer((_request, response) =>
    response.writeHead(jwks.status, { 'content-type': 'application/json' }).end(jwks.body),
  );
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`;
}

let url: string;
const identifyBy = (): IdentifyCaller =>
  identifyCallers({ AUTH_MODE: 'jwt', JWT_JWKS_URL: url, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_ROLES_CLAIM: 'roles' });

beforeAll(async () => {
  [rsa, ec, strangerKeys] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('ES256', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
  ]);
  publicJwk = { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' };
  const ecJwk = { ...(await exportJWK(ec.publicKey)), kid: 'ec', alg: 'ES256', use: 'sig' };
  jwks = { status: 200, body: JSON.stringify({ keys: [publicJwk, ecJwk] }) };
  url = await startProvider();
  identify = identifyBy();
});

afterAll(() => void provider.close());

const now = (): number => Math.floor(Date.now() / 1000);
const claims = (overrides: JWTPayload = {}): JWTPayload => ({
  sub: ANA,
  iss: ISSUER,
  aud: AUDIENCE,
  iat: now(),
  exp: now() + 300,
  roles: ['ops'],
  ...overrides,
});

function sign(
  overrides: JWTPayload = {},
  keys = rsa,
  header: { alg?: string; kid?: string; crit?: string[]; [name: string]: unknown } = {},
): Promise<string> {
  return new SignJWT(claims(overrides)).setProtectedHeader({ alg: 'RS256', kid: 'rsa', ...header }).sign(keys.privateKey);
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Builds a token from any header and any signature. */
function forge(header: object, payload: JWTPayload, signature: (signed: string) => string): string {
  const signed = `${base64(header)}.${base64(payload)}`;
  return `${signed}.${signature(signed)}`;
}

const hmac = (secret: string) => (signed: string) => createHmac('sha256', secret).update(signed).digest('base64url');
const identifyToken = (token: string, scheme = 'Bearer') => identify({ authorization: `${scheme} ${token}` });

test.each<[string, () => Promise<string>]>([
  ['signed with RSA', () => sign()],
  ['signed with an elliptic curve', () => sign({}, ec, { alg: 'ES256', kid: 'ec' })],
  ['for several audiences', () => sign({ aud: ['other', AUDIENCE] })],
  ['expired for less than the clock tolerance', () => sign({ exp: now() - 3 })],
])('identify by token: a token %s is accepted', async (_what, token) => {
  expect(await identifyToken(await token())).toEqual({ userId: ANA, roles: ['ops'] });
});

test.each<[string, () => Promise<string> | string]>([
  ['expired', () => sign({ exp: now() - 10 })],
  ['not valid yet', () => sign({ nbf: now() + 60 })],
  ['without an expiry', () => sign({ exp: undefined })],
  ['without a subject', () => sign({ sub: undefined })],
  ['whose subject is no UUID', () => sign({ sub: 'ana' })],
  ['of another issuer', () => sign({ iss: 'https://evil.example' })],
  ['without an issuer', () => sign({ iss: undefined })],
  ['for another audience', () => sign({ aud: 'other' })],
  ['without an audience', () => sign({ aud: undefined })],
  ['signed by a stranger under a known key id', () => sign({}, strangerKeys)],
  ['signed by a stranger under an unknown key id', () => sign({}, strangerKeys, { kid: 'stranger' })],
  ['without a signature', () => forge({ alg: 'none' }, claims(), () => '')],
  ['whose algorithm is None', () => forge({ alg: 'None', kid: 'rsa' }, claims(), () => 'x')],
  [
    'signed with the public key as a secret',
    () => forge({ alg: 'HS256', kid: 'rsa' }, claims(), hmac(JSON.stringify(publicJwk))),
  ],
  ['signed with the modulus as a secret', () => forge({ alg: 'HS256', kid: 'rsa' }, claims(), hmac(String(publicJwk.n)))],
  ['signed with one key type under the key id of another type', () => sign({}, ec, { alg: 'ES256', kid: 'rsa' })],
  [
    'that contains its own key',
    async () => sign({}, strangerKeys, { kid: 'mine', jwk: await exportJWK(strangerKeys.publicKey) }),
  ],
  ['that links to its own key', () => sign({}, strangerKeys, { kid: 'mine', jku: 'http://127.0.0.1:1/keys' })],
  [
    'whose claims were changed',
    async () => {
      const [header, , signature] = (await sign()).split('.');
      return `${header}.${base64(claims({ roles: ['ops', 'gate'] }))}.${signature}`;
    },
  ],
  ['with a signature cut short', async () => (await sign()).slice(0, -8)],
  ['with an unknown critical header', () => forge({ alg: 'RS256', kid: 'rsa', crit: ['b64x'], b64x: 1 }, claims(), () => 'x')],
  ['that is encrypted', () => 'a.b.c.d.e'],
  ['that is no token', () => 'garbage'],
])('identify by token: a token %s identifies no caller', async (_what, token) => {
  expect(await identifyToken(await token())).toBeUndefined();
});

test.each([
  ['no header', {}],
  ['an Authorization header with another scheme than Bearer', { authorization: 'Basic YTpi' }],
  ['an empty token', { authorization: 'Bearer ' }],
  ['two tokens', { authorization: 'Bearer a b' }],
  ['the headers of mock mode', { 'x-mock-user-id': ANA, 'x-mock-roles': 'ops' }],
])('identify by token: %s identifies no caller', async (_what, headers) => {
  expect(await identify(headers)).toBeUndefined();
});

test('identify by token: the headers of mock mode are ignored', async () => {
  const token = await sign({ roles: [] });
  const other = ANA.replace('a', 'b');
  expect(await identify({ authorization: `bearer ${token}`, 'x-mock-user-id': other, 'x-mock-roles': 'ops' })).toEqual({
    userId: ANA,
    roles: [],
  });
});

test.each([
  ['text', [], 'ops'],
  ['a list with values that are not text', ['ops'], ['ops', 7, null]],
  ['missing', [], undefined],
])('identify by token: if the roles in the token are %s, the caller has the roles %j', async (_what, understood, roles) => {
  expect(await identifyToken(await sign({ roles }))).toEqual({ userId: ANA, roles: understood });
});

test.each([
  ['answers an error', { status: 500, body: '{}' }],
  ['answers no JSON', { status: 200, body: '<html>' }],
  ['answers no keys', { status: 200, body: '{"hello":1}' }],
])('identify by token: an identity provider that %s gives DEPENDENCY_UNAVAILABLE', async (_what, answer) => {
  const goodKeys = jwks;
  jwks = answer;
  const token = await sign();
  await expect(identifyBy()({ authorization: `Bearer ${token}` })).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  jwks = goodKeys;
});

test('identify by token: an unreachable identity provider gives DEPENDENCY_UNAVAILABLE, unless its keys are cached', async () => {
  const token = await sign();
  const withoutCachedKeys = identifyBy();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
  await expect(withoutCachedKeys({ authorization: `Bearer ${token}` })).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  expect(await identifyToken(token)).toMatchObject({ userId: ANA });
});
