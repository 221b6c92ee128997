import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { EventSources } from '../../../libs/testing/src/event-sources.ts';
import { checkHealthy, LoaderScene, type LoaderScenario } from './loader-scene.ts';

type Answer = (response: ServerResponse, after: number) => void;

interface BadSource {
  readonly answer: Answer;
  /** Expected `last_error` in the row of the source. */
  readonly error?: RegExp;
  readonly stored?: number;
  readonly quarantined?: number;
}

const event = (id: unknown, payload: unknown = { n: id }): object => ({ id, payload });
const page = (response: ServerResponse, events: readonly unknown[]): void => void response.end(JSON.stringify({ events }));
const ifNew = (after: number, last: number, events: readonly unknown[]): readonly unknown[] => (after < last ? events : []);

/** Event sources that misbehave in the ways of research/reliability.md §4.6, by name. */
const badSources: Readonly<Record<string, BadSource>> = {
  'answers-500': { answer: (response) => void response.writeHead(500).end(), error: /^SOURCE_FAILED/ },
  'answers-401': { answer: (response) => void response.writeHead(401).end(), error: /^SOURCE_FORBIDDEN/ },
  redirects: { answer: (response) => void response.writeHead(307, { location: '/gate-0' }).end(), error: /^SOURCE_REDIRECT/ },
  'is-no-json': { answer: (response) => void response.end('<html>'), error: /^SOURCE_BAD_FORMAT/ },
  'is-too-large': {
    answer: (response) =>
      page(
        response,
        Array.from({ length: 900 }, (_, index) => event(index + 1, { text: 'x'.repeat(10_000) })),
      ),
    error: /^SOURCE_TOO_LARGE/,
  },
  'is-a-zip-bomb': {
    answer: (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(7_000_000))),
    error: /^SOURCE_TOO_LARGE/,
  },
  resets: { answer: (response) => void response.socket?.resetAndDestroy(), error: /^SOURCE_UNREACHABLE/ },
  'has-bad-events': {
    answer: (response, after) =>
      page(response, ifNew(after, 6, [event(1), event(2, 'none'), event(3), event(-4), null, event(5, { a: '\0' }), event(6)])),
    stored: 3,
    quarantined: 4,
  },
  'is-not-ascending': {
    answer: (response, after) => page(response, ifNew(after, 9, [event(7), event(3), event(9), event(3), event(1)])),
    stored: 4,
  },
  'never-moves-on': { answer: (response) => page(response, [event(1), event(2), event(3)]), stored: 3 },
  'rewrites-history': {
    answer: (response, after) =>
      page(response, after === 0 ? [event(1), event(2)] : [event(1), event(2, { n: 'changed' }), event(3)]),
    stored: 3,
    quarantined: 1,
  },
  'floods-with-junk': {
    answer: (response) => void response.end(`{"events":[${'1,'.repeat(4_000_000)}1]}`),
    error: /^SOURCE_BAD_FORMAT/,
    quarantined: 1,
  },
  'has-ids-beyond-bigint': {
    answer: (response, after) =>
      void response.end(
        after < 2
          ? '{"events":[{"id":1,"payload":{}},{"id":9223372036854775808,"payload":{}},{"id":2,"payload":{}}]}'
          : '{"events":[]}',
      ),
    stored: 2,
    quarantined: 1,
  },
  'sends-too-many': {
    answer: (response, after) =>
      page(response, Array.from({ length: 1500 }, (_, index) => event(after + index + 1)).slice(0, 3000 - after)),
    stored: 3000,
  },
};

/** Event sources that let a fetch take its whole timeout of 10 s, so only the full-size scenario uses them. */
const slowSources: Readonly<Record<string, BadSource>> = {
  hangs: { answer: () => undefined, error: /^SOURCE_TIMEOUT/ },
  'never-ends': {
    answer: (response) => {
      const interval = setInterval(() => response.write(' '), 1000);
      response.on('close', () => clearInterval(interval));
    },
    error: /^SOURCE_TIMEOUT/,
  },
};

interface Size {
  readonly healthy: number;
  readonly events: number;
  readonly loaders: number;
  readonly limitMs: number;
  /** Whether to use slowSources too, which take 10 s to fail. */
  readonly withSlow: boolean;
}

/** Scenario F21: bad event sources of every known kind must not disturb the loading of events from healthy sources. */
export function sourcesMisbehave({ healthy, events, loaders, limitMs, withSlow }: Size): LoaderScenario {
  const allBadSources: Readonly<Record<string, BadSource>> = withSlow ? { ...badSources, ...slowSources } : badSources;
  return {
    id: 'F21',
    title: `${Object.keys(allBadSources).length} misbehaving sources among ${healthy} healthy ones`,
    limitMs: limitMs + 60_000,
    async run(servers, check) {
      const names = Array.from({ length: healthy }, (_, index) => `gate-${index}`);
      const sources = await EventSources.open({
        sizeOf: () => events,
        misbehave(request, response, name) {
          const after = Number(new URL(request.url ?? '', 'http://source').searchParams.get('after_id'));
          allBadSources[name]?.answer(response, after);
          return name in allBadSources;
        },
      });
      const allNames = [...Object.keys(allBadSources), ...names];
      const scene = new LoaderScene(
        servers,
        allNames.map((name) => ({ name, kind: 'http', url: sources.urlOf(name) })),
      );
      try {
        for (let count = 0; count < loaders; count += 1) scene.start();
        const startedAt = performance.now();
        const isHealthy = (source: string): boolean => names.includes(source);
        const isDone = ({ source, cursor, stored, last_error }: Awaited<ReturnType<typeof scene.rows>>[number]): boolean =>
          isHealthy(source)
            ? Number(cursor) === events
            : allBadSources[source]?.error
              ? last_error !== null
              : stored >= (allBadSources[source]?.stored ?? 0);
        const isLoaded = await scene.waitUntilLoaded((row) => !isHealthy(row.source) || isDone(row), allNames.length, limitMs);
        check(isLoaded, 'not all healthy sources were loaded in time');
        const seconds = (performance.now() - startedAt) / 1000;
        check(await scene.waitUntilLoaded(isDone, allNames.length, limitMs), 'not every bad source was handled in time');
        // Give the sources that repeat their events the time to do so.
        await sleep(1000);
        for (const fault of await scene.stop()) check(false, fault);
        const rows = await scene.rows();
        for (const row of rows) {
          const bad = allBadSources[row.source];
          if (!bad) continue;
          const { source, stored, quarantined, last_error } = row;
          check(bad.error ? bad.error.test(last_error ?? '') : last_error === null, `${source}: its last error is ${last_error}`);
          check(stored === (bad.stored ?? 0), `${source}: ${stored} stored instead of ${bad.stored ?? 0}`);
          check(
            quarantined === (bad.quarantined ?? 0),
            `${source}: ${quarantined} quarantined instead of ${bad.quarantined ?? 0}`,
          );
        }
        const healthyRows = rows.filter(({ source }) => isHealthy(source));
        for (const name of Object.keys(allBadSources)) sources.ledgers.delete(name);
        checkHealthy(healthyRows, () => events, sources, check);
        check(sources.total('sentAgain') === 0, `${sources.total('sentAgain')} events of healthy sources were fetched twice`);
        return {
          healthy_per_second: Math.round((events * healthy) / seconds),
          quarantined: rows.reduce((sum, { quarantined }) => sum + quarantined, 0),
          least_gap_ms: Math.round(sources.minGapMs() * 10) / 10,
        };
      } finally {
        await scene.close();
        await sources.close();
      }
    },
  };
}
