import { OperationsApi, type CreateMatchCommand, type PlannedSector } from '../operations/operations.api.ts';
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

/**
 * Creates the demo matches. Both sales open immediately. The waiting room learns of the match that has a queue through the outbox,
 * once the services run.
 */
export function seedDemo(): Promise<string[]> {
  return withApi(OperationsApi, async (operations) => {
    const lines: string[] = [];
    for (const command of demoMatches()) {
      const { match, sectors } = await operations.createMatch(command);
      const seats = sectors.reduce((sum, { capacity }) => sum + capacity, 0);
      const access = command.queueRequired ? 'with a waiting room' : 'without a queue';
      lines.push(
        `${command.home} – ${command.away}, ${command.venue}: ${seats} seats in ${sectors.length} sectors, ${access} (${match.id})`,
      );
    }
    return lines;
  });
}
