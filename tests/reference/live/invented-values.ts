// Replaces the ids, times and secrets of a recorded answer by invented ones, so that a stored example is the same after each run and
// tells nothing of the machine that recorded it.

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const INTENT = /pi_[0-9a-f]{8,}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** The invented value of each field whose value is a secret, a token or a number that grows. */
const inventedByField: Readonly<Record<string, string | number>> = {
  client_secret: 'pi_3example_secret_example',
  code: 'TRB1.example-of-a-ticket-code',
  fcm_token: 'example-of-a-device-token',
  intent_id: 'pi_3example',
  next_cursor: Buffer.from('0198c2a0-0000-7000-8000-00000000c001').toString('base64url'),
  number: 'ORD-2026-001234',
  queue_token: 'qt_example-of-a-queue-token',
  receipt: 'example-of-a-receipt',
  request_id: '0198c2a0-0000-7000-8000-00000000a001',
  session_token: 'st_example-of-a-session-token',
  since: 41,
  token: 'inv_example-of-the-token-of-an-invitation-00000',
  version: 42,
};
const timeByField: Readonly<Record<string, string>> = {
  kickoff_at: '2026-09-12T18:00:00.000Z',
  opens_at: '2026-09-01T10:00:00.000Z',
  until: '2026-12-31T23:00:00.000Z',
};
const FIRST_TIME_MS = Date.parse('2026-09-01T10:00:00Z');

/** The things that have ids. The place in this list is part of the invented id, so that each thing has ids of its own. */
const things = ['other', 'match', 'sector', 'seat', 'reservation', 'order', 'ticket', 'user', 'job'];
const thingByField: Readonly<Record<string, string>> = { alternative: 'seat', by: 'user', listed_by: 'user', actor: 'user' };
/** How many elements of a list an example keeps. */
const KEPT = { items: 2, other: 4 };

/** The thing that an operation is about: that of the last plural in its path. */
const thingOfPath = (path: string): string => singular(path.split('/').findLast((part) => /[^op]s$/.test(part)) ?? '');
const singular = (word: string): string => word.replace(/(ch)es$/, '$1').replace(/s$/, '');

/** Invents the values of one example. The same value is replaced by the same one everywhere in it. */
export class InventedValues {
  private readonly replacements = new Map<string, string>();
  private readonly times = new Set<string>();
  private readonly countOf = new Map<string, number>();

  constructor(private readonly path: string) {}

  /** The JSON value with invented values. */
  of(value: unknown): unknown {
    this.invent(value, '', thingOfPath(this.path));
    return this.invent(value, '', thingOfPath(this.path));
  }

  /** The text of an event stream with invented values. */
  ofStream(text: string): string {
    return text.replaceAll(/^data: (.+)$/gm, (_line, data: string) => `data: ${JSON.stringify(this.of(JSON.parse(data)))}`);
  }

  /** The first call collects what to replace; a second call also replaces it inside longer texts. */
  private invent(value: unknown, field: string, thing: string): unknown {
    if (Array.isArray(value)) {
      const kept = typeof value[0] === 'object' ? value.slice(0, field === 'items' ? KEPT.items : KEPT.other) : value;
      const of = field === 'items' ? thing : singular(field);
      return kept.map((item) => this.invent(item, field, of));
    }
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.invent(member, name, thing)]));
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    const invented = inventedByField[field];
    if (typeof invented === typeof value && !(typeof value === 'string' && /^[A-Z_]+$/.test(value))) {
      if (typeof value === 'string' && value.length >= 12) this.replacements.set(value, String(invented));
      return invented;
    }
    if (typeof value === 'number') return value;
    if (TIME.test(value)) return this.time(value, field);
    const known = [...this.replacements].reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      value.replaceAll(INTENT, String(inventedByField.intent_id)),
    );
    return known.replaceAll(UUID, (id, offset: number) => {
      if (this.isInvented(id)) return id;
      const segmentBefore = /(\w+)\/$/.exec(known.slice(0, offset))?.[1];
      return this.id(id, field, segmentBefore ? singular(segmentBefore) : thing);
    });
  }

  private time(value: string, field: string): string {
    const fixed = timeByField[field];
    if (fixed) return fixed;
    this.times.add(value);
    const place = [...this.times].sort().indexOf(value);
    return new Date(FIRST_TIME_MS + place * 60_000).toISOString();
  }

  private isInvented = (id: string): boolean => id.startsWith('0198c2a0-0000-7000-8000-');

  private id(id: string, field: string, thing: string): string {
    const named = thingByField[field] ?? /^(?:to_)?(\w+?)_ids?$/.exec(field)?.[1] ?? thing;
    const index = Math.max(0, things.indexOf(named));
    const count = (this.countOf.get(String(index)) ?? 0) + 1;
    this.countOf.set(String(index), count);
    const invented = `0198c2a0-0000-7000-8000-${index.toString(16).padStart(4, '0')}${count.toString(16).padStart(8, '0')}`;
    this.replacements.set(id, invented);
    return invented;
  }
}
