import { createLogger } from '#platform/logging/logger';
import type pg from 'pg';
import { EventFetchError } from '../core/event.ts';
import type { PollResult } from '../core/ports.ts';
import { sourceNamed } from '../testing/sources.ts';
import { RecordedPolls } from './recorded-polls.ts';

function setUp(isHourOver = true) {
  const lines: { level: string; source: string; reason: string }[] = [];
  const noted: unknown[][] = [];
  const told: string[] = [];
  const opened: string[] = [];
  const query = (_sql: string, values: unknown[]) => {
    noted.push(values.slice(0, 2));
    return Promise.resolve({ rows: [{ tell: values[2] === true && isHourOver }] });
  };
  const pool = { query } as unknown as pg.Pool;
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const tell = {
    refusal: (source: string) => void told.push(source),
    breakerOpened: (source: string) => void opened.push(source),
  };
  return { turns: new RecordedPolls(pool, logger, tell), lines, noted, told, opened };
}

const failed = (code: EventFetchError['code'], detail: string): PollResult => ({
  kind: 'failed',
  error: new EventFetchError(code, detail),
});

test.each([
  ['SOURCE_FAILED', 'warn'],
  ['SOURCE_TIMEOUT', 'warn'],
  ['SOURCE_BAD_FORMAT', 'warn'],
  // It waits for people.
  ['SOURCE_FORBIDDEN', 'error'],
] as const)('%s is told at level %s, and stands in the row of its source', async (code, level) => {
  const { turns, lines, noted } = setUp();
  await turns.heard(sourceNamed('north'), failed(code, 'as it was'));
  expect(lines).toMatchObject([{ level, source: 'north', reason: `${code}: as it was` }]);
  expect(noted).toEqual([['north', `${code}: as it was`]]);
});

test('people are told of a source that refuses us, when the hour is over, and of no other trouble', async () => {
  const { turns, told } = setUp();
  await turns.heard(sourceNamed('north'), failed('SOURCE_FAILED', 'it answered 500'));
  await turns.heard(sourceNamed('south'), failed('SOURCE_FORBIDDEN', 'it answered 401'));
  expect(told).toEqual(['south']);
  const within = setUp(false);
  await within.turns.heard(sourceNamed('south'), failed('SOURCE_FORBIDDEN', 'it answered 401'));
  expect(within.told).toEqual([]);
});

test('people are told of a source that is left alone after five failures', () => {
  const { turns, lines, opened } = setUp();
  turns.breakerOpened(sourceNamed('north'));
  expect([opened, lines]).toMatchObject([['north'], [{ level: 'error', source: 'north' }]]);
});

test('what looks like a credential is told nowhere', async () => {
  const { turns, lines, noted } = setUp();
  await turns.heard(sourceNamed('north'), failed('SOURCE_FAILED', 'it answered: Bearer canary-1234'));
  expect(JSON.stringify([lines, noted])).not.toContain('canary');
});

test('told to stop is no failure', async () => {
  const { turns, lines, noted } = setUp();
  await turns.heard(sourceNamed('north'), failed('SOURCE_STOPPED', 'told to stop'));
  expect([lines, noted, turns.sum.failed]).toEqual([[], [], 0]);
});

test('a source that sends too much is told of once a minute', async () => {
  const { turns, lines } = setUp();
  const turn: PollResult = { kind: 'appended', stored: 1000, refused: 0, quarantined: 0, left: 500 };
  await turns.heard(sourceNamed('north'), turn);
  await turns.heard(sourceNamed('north'), turn);
  expect(lines).toMatchObject([{ level: 'warn', reason: 'SOURCE_OVERSEND', left: 500 }]);
});

test('events that were set aside are told of', async () => {
  const { turns, lines } = setUp();
  await turns.heard(sourceNamed('north'), { kind: 'appended', stored: 0, refused: 0, quarantined: 2 });
  expect(lines).toMatchObject([{ level: 'warn', source: 'north', quarantined: 2 }]);
});
