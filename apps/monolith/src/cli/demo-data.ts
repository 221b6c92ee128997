import type { MonolithConfig } from '../config.ts';
import { OperationsApi, type CreateMatchCommand, type PlannedSector } from '../operations/operations.api.ts';
import { withMonolithContext } from './monolith-context.ts';

const DAY_MS = 86_400_000;

/** A bowl of 24 sectors around the pitch: 22 seated with 1,392 seats each and two standing ends, 33,424 places. */
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
      priceCents,
      plan: { kind: 'seated', rows: 29, seatsPerRow: 48 },
    }));
    const isEnd = stand === 'North' || stand === 'South';
    const standing: PlannedSector = {
      name: `${stand} Terrace`,
      gate: `${gate}${letters.length + 1}`,
      priceCents: 1200,
      plan: { kind: 'standing', capacity: 1400 },
    };
    return isEnd ? [...seated, standing] : seated;
  });
}

/** Kick-off at eight in the evening (UTC+1), so many days from now. */
function kickOff(days: number): Date {
  const day = new Date(Date.now() + days * DAY_MS);
  day.setUTCHours(19, 0, 0, 0);
  return day;
}

function demoMatches(): CreateMatchCommand[] {
  const base = { home: 'Hrvatska', currency: 'EUR', opensAt: new Date(Date.now() - 60_000), sectors: demoStadium() };
  return [
    // One turn a second and 40 windows: a lone visitor is let in at once, a crowd of 500 can be watched waiting.
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

/** Both sales are open from the start; the waiting room hears of its match through the outbox when the services run. */
export function seedDemo(config: MonolithConfig): Promise<string[]> {
  return withMonolithContext(config, async (context) => {
    const operations = context.get(OperationsApi, { strict: false });
    const lines: string[] = [];
    for (const command of demoMatches()) {
      const { matchId, sectors } = await operations.createMatch(command);
      const places = sectors.reduce((sum, { capacity }) => sum + capacity, 0);
      const way = command.queueRequired ? 'with a waiting room' : 'without a queue';
      lines.push(
        `${command.home} – ${command.away}, ${command.venue}: ${places} places in ${sectors.length} sectors, ${way} (${matchId})`,
      );
    }
    return lines;
  });
}
