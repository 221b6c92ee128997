import { createLogger } from '#platform/logging/logger';
import type pg from 'pg';
import { EventFetchError } from '../core/event.ts';
import type { PollResult } from '../core/ports.ts';
import { sourceNamed } from '../testing/sources.ts';
import { RECORD_POLL_FAILURE } from './loader-sources.sql.ts';
import { RecordedPolls } from './recorded-polls.ts';

function setUp(isHourOver = true) {
  const lines: { level: string; source: string; reason: string }[] = [];
  const written: unknown[][] = [];
  const refusals: string[] = [];
  const opened: string[] = [];
  const query = (sql: string, values: unknown[]) => {
    if (sql !== RECORD_POLL_FAILURE.text) {
      written.push(values.slice(0, 2));
      return Promise.resolve({ rows: [] });
    }
    const [error, isRefusal, source] = values;
    written.push([source, error]);
    return Promise.resolve({ rows: [{ should_alert: isRefusal === true && isHourOver }] });
  };
  const pool = { query } as unknown as pg.Pool;
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const alerts = {
    refusal: (source: string) => void refusals.push(source),
    breakerOpened: (source: string) => void opened.push(source),
  };
  return { polls: new RecordedPolls(pool, logger, alerts), lines, written, refusals, opened };
}

const failed = (code: EventFetchError['code'], detail: string): PollResult => ({
  kind: 'failed',
  error: new EventFetchError(code, detail),
});

test.each([
  ['SOURCE_FAILED', 'warn'],
  ['SOURCE_TIMEOUT', 'warn'],
  ['SOURCE_BAD_FORMAT', 'warn'],
  // Only operators can correct a refusal (401 or 403).
  ['SOURCE_FORBIDDEN', 'error'],
] as const)('a poll that fails with %s is logged at level %s and written to the row of its source', async (code, level) => {
  const { polls, lines, written } = setUp();
  await polls.record(sourceNamed('north'), failed(code, 'as it was'));
  expect(lines).toMatchObject([{ level, source: 'north', reason: `${code}: as it was` }]);
  expect(written).toEqual([['north', `${code}: as it was`]]);
});

test('operators are alerted when a source answers 401, at most once an hour, and not when a poll fails in another way', async () => {
  const { polls, refusals } = setUp();
  await polls.record(sourceNamed('north'), failed('SOURCE_FAILED', 'it answered 500'));
  await polls.record(sourceNamed('south'), failed('SOURCE_FORBIDDEN', 'it answered 401'));
  expect(refusals).toEqual(['south']);
  const alertedBefore = setUp(false);
  await alertedBefore.polls.record(sourceNamed('south'), failed('SOURCE_FORBIDDEN', 'it answered 401'));
  expect(alertedBefore.refusals).toEqual([]);
});

test('operators are alerted when a source is paused because it has failed five times', () => {
  const { polls, lines, opened } = setUp();
  polls.breakerOpened(sourceNamed('north'));
  expect([opened, lines]).toMatchObject([['north'], [{ level: 'error', source: 'north' }]]);
});

test('text that looks like a credential is neither logged nor stored', async () => {
  const { polls, lines, written } = setUp();
  await polls.record(sourceNamed('north'), failed('SOURCE_FAILED', 'it answered: Bearer canary-1234'));
  expect(JSON.stringify([lines, written])).not.toContain('canary');
});

test('a poll that was stopped by the loader’s shutdown is neither logged nor counted as failed', async () => {
  const { polls, lines, written } = setUp();
  await polls.record(sourceNamed('north'), failed('SOURCE_STOPPED', 'the loader was stopped'));
  expect([lines, written, polls.sum.failed]).toEqual([[], [], 0]);
});

test('a source that sends more events than requested is logged once a minute', async () => {
  const { polls, lines } = setUp();
  const result: PollResult = { kind: 'appended', stored: 1000, refused: 0, quarantined: 0, excess: 500 };
  await polls.record(sourceNamed('north'), result);
  await polls.record(sourceNamed('north'), result);
  expect(lines).toMatchObject([{ level: 'warn', reason: 'SOURCE_OVERSEND', excess: 500 }]);
});

test('the number of quarantined events is logged', async () => {
  const { polls, lines } = setUp();
  await polls.record(sourceNamed('north'), { kind: 'appended', stored: 0, refused: 0, quarantined: 2 });
  expect(lines).toMatchObject([{ level: 'warn', source: 'north', quarantined: 2 }]);
});
