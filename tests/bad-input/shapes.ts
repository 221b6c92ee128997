import type { SampleIds } from './system.ts';

/** JSON as it is written, for what no value becomes when it is serialised. */
export class Verbatim {
  constructor(readonly json: string) {}
}

/** One value of a body as CONTRACT describes it: what is right and, independently of our schemas, everything that is wrong. */
export interface Shape {
  readonly good: (at: SampleIds) => unknown;
  readonly bad: readonly unknown[];
  readonly optional: boolean;
  readonly members?: Readonly<Record<string, Shape>>;
  readonly item?: Shape;
  /** Most items a list may have. */
  readonly max?: number;
}

const NOT_TEXT = [3, true, [], {}, ['x'], null];
const NUL = new Verbatim('"a\\u0000b"');
const HALF_A_PAIR = new Verbatim('"a\\ud83d"');
const OTHER_HALF = new Verbatim('"\\uDFDFa"');

function leaf(good: unknown, bad: readonly unknown[]): Shape {
  return { good: typeof good === 'function' ? (good as Shape['good']) : () => good, bad, optional: false };
}

/** A whole number from min to max, and nothing that could be read as one. */
export function whole(min: number, max: number, good = min): Shape {
  const otherTypes = ['3', '', true, null, [], {}, [3]];
  const outside = [min - 1, max + 1, min + 0.5, -(2 ** 53), 2 ** 53, 1e21];
  const written = ['1e400', '-1e400', '9007199254740993', '1e-1', ...(min > 0 ? ['0', '-0', '1e-500'] : [])];
  return leaf(good, [...otherTypes, ...outside, ...written.map((json) => new Verbatim(json))]);
}

/** Text people read: bounded, without control characters, nothing PostgreSQL could not store. */
export function text(max: number, good: string): Shape {
  return leaf(good, [
    ...NOT_TEXT,
    '',
    'x'.repeat(max + 1),
    'é'.repeat(max + 1),
    '\u0007',
    'a\r\nb',
    NUL,
    HALF_A_PAIR,
    OTHER_HALF,
  ]);
}

/** Text programs read: bounded, of a narrow alphabet. */
export function token(max: number, good: string): Shape {
  return leaf(good, [...NOT_TEXT, 'x'.repeat(max + 1), NUL, HALF_A_PAIR]);
}

export function uuid(good: (at: SampleIds) => string): Shape {
  const one = '0190a000-0000-7000-8000-00000000000a';
  const bent = [
    one.slice(1),
    `${one}0`,
    `{${one}}`,
    `urn:uuid:${one}`,
    one.replaceAll('-', ''),
    one.replace('a', 'g'),
    ` ${one}`,
    `${one}\n`,
  ];
  return leaf(good, [...NOT_TEXT, '', '7', 'null', "' or 1=1--", ...bent, NUL]);
}

export function email(good: string): Shape {
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
  return leaf(good, [...NOT_TEXT, ...wrong, NUL, HALF_A_PAIR]);
}

export function time(good: string): Shape {
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
  return leaf(good, [...NOT_TEXT, 1_800_000_000_000, ...wrong]);
}

export function oneOf(good: string): Shape {
  return leaf(good, [...NOT_TEXT, '', good.toUpperCase(), ` ${good}`, 'constructor', '__proto__', 'toString', NUL]);
}

export function flag(good: boolean): Shape {
  return leaf(good, ['true', 'false', '', 0, 1, null, [], {}]);
}

/** A fan and a whole number, in this order. */
export function fanAndNumber(good: (at: SampleIds) => string): Shape {
  const fan = '0190a000-0000-7000-8000-00000000000a';
  const wrong = [[], ['x', 3], [fan], [fan, -1], [fan, 1.5], [fan, '3'], [fan, null], [3, fan], [fan, 3, 3], { 0: fan, 1: 3 }];
  return leaf((at: SampleIds) => [good(at), 3], ['', 3, true, null, {}, ...wrong]);
}

export function nullable(shape: Shape): Shape {
  return { ...shape, bad: shape.bad.filter((value) => value !== null) };
}

export function optional(shape: Shape): Shape {
  return { ...shape, optional: true };
}

export function object(members: Record<string, Shape>): Shape {
  return {
    good: (at) => Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, shape.good(at)])),
    bad: ['{}', '', 3, true, null, []],
    optional: false,
    members,
  };
}

/** Items, one at least unless said otherwise, and never more than max. */
export function list(item: Shape, max: number, min = 1): Shape {
  const bad = ['', '[]', 3, true, null, {}, [null], [[]], { 0: 'x', length: 1 }, ...(min > 0 ? [[]] : [])];
  return { good: (at) => [item.good(at)], bad, optional: false, item, max };
}

/** Members nobody asked for, as they are written; the first ones are what an attacker would like to decide. */
const SURPRISES = [
  '"user_id":"0190a000-0000-7000-8000-00000000000a"',
  '"is_admin":true',
  '"__proto__":{"admin":true}',
  String.raw`"\u005f_proto__":{"admin":true}`,
  '"constructor":{"prototype":{"admin":true}}',
  '"toString":"x"',
  '"":null',
  String.raw`"a\u0000":1`,
];

export interface Variation {
  readonly what: string;
  readonly json: string;
}

export function write(value: unknown): string {
  const verbatim: string[] = [];
  const whole = JSON.stringify(value, (_name, part: unknown) =>
    part instanceof Verbatim ? `@@${verbatim.push(part.json) - 1}@@` : part,
  );
  return whole.replaceAll(/"@@(\d+)@@"/g, (_all, index) => verbatim[Number(index)] ?? '');
}

/** Every body that differs from the good one in one wrong place. */
export function spoil(shape: Shape, at: SampleIds, fits: (value: unknown) => unknown = (value) => value, path = ''): Variation[] {
  const good = shape.good(at);
  const spoilt = (what: string, value: unknown): Variation => ({ what, json: write(fits(value)) });
  const here = path === '' ? [] : shape.bad.map((value) => spoilt(`${path}: ${write(value).slice(0, 40)}`, value));
  if (shape.item) {
    const { item, max = 0 } = shape;
    const tooMany = spoilt(`${path}: ${max + 1} items`, Array(max + 1).fill(item.good(at)));
    return [...here, tooMany, ...spoil(item, at, (value) => fits([value]), `${path}[0]`)];
  }
  if (!shape.members) return here;
  const known = good as Record<string, unknown>;
  const written = write(known).slice(0, -1);
  const unasked = SURPRISES.filter((member) => !Object.keys(shape.members ?? {}).some((name) => member.startsWith(`"${name}":`)));
  const surprises = unasked.map((member) =>
    spoilt(`${path}: with ${member}`, new Verbatim(`${written}${written === '{' ? '' : ','}${member}}`)),
  );
  const inside = Object.entries(shape.members).flatMap(([name, member]) => {
    const { [name]: _gone, ...rest } = known;
    const missing = member.optional ? [] : [spoilt(`${path}.${name}: missing`, rest)];
    return [...missing, ...spoil(member, at, (value) => fits({ ...known, [name]: value }), `${path}.${name}`)];
  });
  return [...here, ...surprises, ...inside];
}

/** `sectors[].rows`: every field there is in a body. */
export function pathsOf(shape: Shape, path = ''): string[] {
  if (shape.item) return pathsOf(shape.item, `${path}[]`);
  return Object.entries(shape.members ?? {}).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`;
    return [here, ...pathsOf(member, here)];
  });
}
