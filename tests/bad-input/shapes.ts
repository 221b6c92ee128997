import type { SampleIds } from './system.ts';

/** Literal JSON text, for values that `JSON.stringify` cannot produce, such as `1e400`. */
export class Verbatim {
  constructor(readonly json: string) {}
}

/** One value of a request body: a valid example and all invalid ones. Written from the specification (CONTRACT), not from our schemas. */
export interface Shape {
  readonly valid: (ids: SampleIds) => unknown;
  readonly invalid: readonly unknown[];
  readonly optional: boolean;
  readonly members?: Readonly<Record<string, Shape>>;
  readonly item?: Shape;
  /** Maximum number of items of a list. */
  readonly max?: number;
}

const NOT_TEXT = [3, true, [], {}, ['x'], null];
const NUL = new Verbatim('"a\\u0000b"');
const LONE_HIGH_SURROGATE = new Verbatim('"a\\ud83d"');
const LONE_LOW_SURROGATE = new Verbatim('"\\uDFDFa"');

function simpleValue(valid: unknown, invalid: readonly unknown[]): Shape {
  return { valid: typeof valid === 'function' ? (valid as Shape['valid']) : () => valid, invalid, optional: false };
}

/** A whole number from min to max. Values of other types are invalid, even if they could be converted to a number. */
export function wholeNumber(min: number, max: number, valid = min): Shape {
  const otherTypes = ['3', '', true, null, [], {}, [3]];
  const outside = [min - 1, max + 1, min + 0.5, -(2 ** 53), 2 ** 53, 1e21];
  const written = ['1e400', '-1e400', '9007199254740993', '1e-1', ...(min > 0 ? ['0', '-0', '1e-500'] : [])];
  return simpleValue(valid, [...otherTypes, ...outside, ...written.map((json) => new Verbatim(json))]);
}

/** Text for people, such as a name: limited in length, without control characters and characters that PostgreSQL cannot store. */
export function text(max: number, valid: string): Shape {
  return simpleValue(valid, [
    ...NOT_TEXT,
    '',
    'x'.repeat(max + 1),
    'é'.repeat(max + 1),
    '\u0007',
    'a\r\nb',
    NUL,
    LONE_HIGH_SURROGATE,
    LONE_LOW_SURROGATE,
  ]);
}

/** Text for programs, such as a session token: limited in length, with a small set of characters. */
export function token(max: number, valid: string): Shape {
  return simpleValue(valid, [...NOT_TEXT, 'x'.repeat(max + 1), NUL, LONE_HIGH_SURROGATE]);
}

/** The shape of a UUID. */
export function uuid(valid: (ids: SampleIds) => string): Shape {
  const sample = '0190a000-0000-7000-8000-00000000000a';
  const malformed = [
    sample.slice(1),
    `${sample}0`,
    `{${sample}}`,
    `urn:uuid:${sample}`,
    sample.replaceAll('-', ''),
    sample.replace('a', 'g'),
    ` ${sample}`,
    `${sample}\n`,
  ];
  return simpleValue(valid, [...NOT_TEXT, '', '7', 'null', "' or 1=1--", ...malformed, NUL]);
}

/** The shape of an email address. */
export function email(valid: string): Shape {
  const wrong = [
    '',
    'x',
    'x@',
    '@x.hr',
    'a b@x.hr',
    'a@b@x.hr',
    'a@x.hr\nBcc: b@x.hr',
    'a@x.hr,b@x.hr',
    `${'a'.repeat(250)}@x.hr`,
  ];
  return simpleValue(valid, [...NOT_TEXT, ...wrong, NUL, LONE_HIGH_SURROGATE]);
}

/** The shape of a time in ISO 8601 with a time zone. */
export function time(valid: string): Shape {
  const wrong = [
    '',
    'tomorrow',
    '2027-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-01',
    '2027-01-01T00:00:00',
    '1e3',
    '+275760-09-13T00:00:00Z',
  ];
  return simpleValue(valid, [...NOT_TEXT, 1_800_000_000_000, ...wrong]);
}

/** The shape of one word of a fixed set. */
export function oneOf(valid: string): Shape {
  return simpleValue(valid, [...NOT_TEXT, '', valid.toUpperCase(), ` ${valid}`, 'constructor', '__proto__', 'toString', NUL]);
}

/** The shape of a boolean. */
export function flag(valid: boolean): Shape {
  return simpleValue(valid, ['true', 'false', '', 0, 1, null, [], {}]);
}

/** The shape of a list with a user id and a whole number. */
export function fanAndNumber(valid: (ids: SampleIds) => string): Shape {
  const fan = '0190a000-0000-7000-8000-00000000000a';
  const wrong = [[], ['x', 3], [fan], [fan, -1], [fan, 1.5], [fan, '3'], [fan, null], [3, fan], [fan, 3, 3], { 0: fan, 1: 3 }];
  return simpleValue((ids: SampleIds) => [valid(ids), 3], ['', 3, true, null, {}, ...wrong]);
}

/** The shape of a value of which nothing is refused with 400: what is wrong with it is in the answer, which is 200. */
export function anything(valid: unknown): Shape {
  return { ...simpleValue(valid, []), optional: true };
}

/** A shape whose value may also be null. */
export function nullable(shape: Shape): Shape {
  return { ...shape, invalid: shape.invalid.filter((value) => value !== null) };
}

/** The shape of a field that may be absent. */
export function optional(shape: Shape): Shape {
  return { ...shape, optional: true };
}

/** The shape of an object with these members. */
export function object(members: Record<string, Shape>): Shape {
  return {
    valid: (ids) => Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, shape.valid(ids)])),
    invalid: ['{}', '', 3, true, null, []],
    optional: false,
    members,
  };
}

/** The shape of a list of at least min (default 1) and at most max items. */
export function list(item: Shape, max: number, min = 1): Shape {
  const invalid = ['', '[]', 3, true, null, {}, [null], [[]], { 0: 'x', length: 1 }, ...(min > 0 ? [[]] : [])];
  return { valid: (ids) => [item.valid(ids)], invalid, optional: false, item, max };
}

/** Unknown members of an object as JSON text. The first ones are members that an attacker would like to set. */
const UNKNOWN_MEMBERS = [
  '"user_id":"0190a000-0000-7000-8000-00000000000a"',
  '"is_admin":true',
  '"__proto__":{"admin":true}',
  String.raw`"\u005f_proto__":{"admin":true}`,
  '"constructor":{"prototype":{"admin":true}}',
  '"toString":"x"',
  '"":null',
  String.raw`"a\u0000":1`,
];

/** A request body with one invalid value, as JSON text. */
export interface InvalidBody {
  readonly description: string;
  readonly json: string;
}

/** Like `JSON.stringify`, but writes Verbatim values unchanged. */
export function toJson(value: unknown): string {
  const verbatim: string[] = [];
  const text = JSON.stringify(value, (_name, part: unknown) =>
    part instanceof Verbatim ? `@@${verbatim.push(part.json) - 1}@@` : part,
  );
  return text.replaceAll(/"@@(\d+)@@"/g, (_all, index) => verbatim[Number(index)] ?? '');
}

/** All bodies that differ from the valid body in exactly one invalid value. `insert` puts a value of this shape into the whole body. */
export function invalidBodies(
  shape: Shape,
  ids: SampleIds,
  insert: (value: unknown) => unknown = (value) => value,
  path = '',
): InvalidBody[] {
  const valid = shape.valid(ids);
  const variation = (description: string, value: unknown): InvalidBody => ({ description, json: toJson(insert(value)) });
  const invalidValues =
    path === '' ? [] : shape.invalid.map((value) => variation(`${path}: ${toJson(value).slice(0, 40)}`, value));
  if (shape.item) {
    const { item, max = 0 } = shape;
    const tooMany = variation(`${path}: ${max + 1} items`, Array(max + 1).fill(item.valid(ids)));
    return [...invalidValues, tooMany, ...invalidBodies(item, ids, (value) => insert([value]), `${path}[0]`)];
  }
  if (!shape.members) return invalidValues;
  const validMembers = valid as Record<string, unknown>;
  const written = toJson(validMembers).slice(0, -1);
  const unknownMembers = UNKNOWN_MEMBERS.filter(
    (member) => !Object.keys(shape.members ?? {}).some((name) => member.startsWith(`"${name}":`)),
  );
  const withUnknownMember = unknownMembers.map((member) =>
    variation(`${path}: with ${member}`, new Verbatim(`${written}${written === '{' ? '' : ','}${member}}`)),
  );
  const insideMembers = Object.entries(shape.members).flatMap(([name, member]) => {
    const { [name]: _omitted, ...rest } = validMembers;
    const missing = member.optional ? [] : [variation(`${path}.${name}: missing`, rest)];
    return [...missing, ...invalidBodies(member, ids, (value) => insert({ ...validMembers, [name]: value }), `${path}.${name}`)];
  });
  return [...invalidValues, ...withUnknownMember, ...insideMembers];
}

/** Paths of all fields of a body, such as `sectors[].rows`. */
export function pathsOf(shape: Shape, path = ''): string[] {
  if (shape.item) return pathsOf(shape.item, `${path}[]`);
  return Object.entries(shape.members ?? {}).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    return [memberPath, ...pathsOf(member, memberPath)];
  });
}
