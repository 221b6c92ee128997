import { OperationsApi, type CreatedMatch, type CreateMatchCommand, type PlannedSector } from '../operations/operations.api.ts';
import { QuotaApi, type Guest, type NewQuota } from '../quota/quota.api.ts';
import { withApi } from './monolith-context.ts';

const DAY_MS = 86_400_000;

/**
 * A stadium of 24 sectors with 33,424 seats: 22 seated sectors with 1,392 seats each and two standing sectors of 1,400. West A is for
 * people in wheelchairs.
 */
export function demoStadium(): PlannedSector[] {
  const stands = [
    { stand: 'East', letters: 'ABCDEF', gate: 'E', priceCents: 3500 },
    { stand: 'North', letters: 'ABCDE', gate: 'N', priceCents: 2000 },
    { stand: 'West', letters: 'ABCDEF', gate: 'W', priceCents: 4500 },
    { stand: 'South', letters: 'ABCDE', gate: 'S', priceCents: 2000 },
  ];
  return stands.flatMap(({ stand, letters, gate, priceCents }) => {
    const seated = [...letters].map((letter, index): PlannedSector => ({
      name: `${stand} ${letter}`,
      gate: `${gate}${index + 1}`,
      wheelchair: stand === 'West' && letter === 'A',
      priceCents,
      plan: { kind: 'seated', rows: 29, seatsPerRow: 48 },
    }));
    const hasTerrace = stand === 'North' || stand === 'South';
    const standing: PlannedSector = {
      name: `${stand} Terrace`,
      gate: `${gate}${letters.length + 1}`,
      wheelchair: false,
      priceCents: 1200,
      plan: { kind: 'standing', capacity: 1400 },
    };
    return hasTerrace ? [...seated, standing] : seated;
  });
}

/** 20:00 in UTC+1, the given number of days from now. */
function kickOff(days: number): Date {
  const day = new Date(Date.now() + days * DAY_MS);
  day.setUTCHours(19, 0, 0, 0);
  return day;
}

function demoMatches(): CreateMatchCommand[] {
  const base = { home: 'Hrvatska', currency: 'EUR', opensAt: new Date(Date.now() - 60_000), sectors: demoStadium() };
  return [
    // Two turns a second and at most 40 fans with a turn at the same time: a single visitor gets a turn at once, and a demo crowd
    // of 500 has to wait.
    {
      ...base,
      away: 'Italija',
      venue: 'Maksimir, Zagreb',
      kickoffAt: kickOff(21),
      maxTicketsPerFan: 4,
      queueRequired: true,
      processingRate: 120,
      maxOpenWindows: 40,
    },
    {
      ...base,
      away: 'Slovenija',
      venue: 'Poljud, Split',
      kickoffAt: kickOff(35),
      maxTicketsPerFan: 6,
      queueRequired: false,
      processingRate: 600,
      maxOpenWindows: 1000,
    },
  ];
}

/** A quota of the demo match: the names of its sectors, and how many places of each. */
type DemoQuota = Pick<NewQuota, 'name' | 'kind'> & {
  readonly sectors: Readonly<Record<string, number>>;
  /** The price of all its places, without it their ordinary price. */
  readonly priceCents?: number;
  readonly guests?: readonly Guest[];
  readonly children?: readonly DemoQuota[];
};

/**
 * About an eighth of the stadium: the visitors have two sectors of their own and return unused seats 7 days before kick-off. The
 * sponsors have invited people: those of the main sponsor pay nothing.
 */
const demoQuotas: readonly DemoQuota[] = [
  { name: 'Gostujući navijači', kind: 'visitors', sectors: { 'North D': 1392, 'North E': 1392 } },
  { name: 'GNK Dinamo', kind: 'club', sectors: { 'West C': 384 } },
  { name: 'HNK Hajduk', kind: 'club', sectors: { 'West D': 384 } },
  {
    name: 'Sponzori',
    kind: 'sponsor',
    sectors: { 'West E': 240 },
    guests: [{ email: 'marko.peric@example.com', name: 'Marko Perić', locale: 'hr', quantity: 2 }],
    children: [
      {
        name: 'Glavni sponzor',
        kind: 'sponsor',
        sectors: { 'West E': 96 },
        priceCents: 0,
        guests: [
          { email: 'durdica@example.com', name: 'Đurđica Šćepanović-Žižić', locale: 'hr', quantity: 2 },
          { email: 'grace.okafor@example.com', name: 'Grace Okafor', locale: 'en', quantity: 4 },
        ],
      },
    ],
  },
];

/** The partner who acts for the quotas of the demo match; with AUTH_MODE=mock the header X-Mock-User-Id. */
const DEMO_PARTNER = '0190a000-0000-7000-8000-0000000000bb';

async function createDemoQuotas(
  api: QuotaApi,
  { match, sectors }: CreatedMatch,
  quotas = demoQuotas,
  parentId: string | null = null,
): Promise<void> {
  const returnAt = new Date(match.kickoffAt.getTime() - 7 * DAY_MS);
  for (const { name, kind, sectors: wanted, priceCents, guests, children } of quotas) {
    const places = Object.entries(wanted).map(([sector, quantity]) => ({
      sector_id: sectors.find((known) => known.name === sector)?.id ?? '',
      quantity,
    }));
    const prices = priceCents === undefined ? [] : places.map(({ sector_id }) => [sector_id, priceCents] as const);
    const neverTo = kind === 'visitors' ? [kind] : [];
    const onReturn = parentId === null ? 'public' : 'parent';
    const id = await api.create({
      matchId: match.id,
      parentId,
      name,
      kind,
      places,
      members: [DEMO_PARTNER],
      returnAt,
      onReturn,
      neverTo,
      priceCents: Object.fromEntries(prices),
    });
    if (guests) await api.invite(id, 'demo', guests);
    if (children) await createDemoQuotas(api, { match, sectors }, children, id);
  }
}

/**
 * Creates the demo matches. Both sales open immediately, the first match has quotas. The waiting room learns of the match that has a
 * queue through the outbox, once the services run.
 */
export async function seedDemo(): Promise<string[]> {
  const created = await withApi(OperationsApi, async (operations) => {
    const matches: CreatedMatch[] = [];
    for (const command of demoMatches()) matches.push(await operations.createMatch(command));
    return matches;
  });
  const [first] = created;
  if (first) await withApi(QuotaApi, (quotas) => createDemoQuotas(quotas, first));
  return created.map(({ match, sectors }) => {
    const seats = sectors.reduce((sum, { capacity }) => sum + capacity, 0);
    const access = match.queueRequired ? 'with a waiting room' : 'without a queue';
    return `${match.home} – ${match.away}, ${match.venue}: ${seats} seats in ${sectors.length} sectors, ${access} (${match.id})`;
  });
}
