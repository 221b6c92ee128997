import { setTimeout as sleep } from 'node:timers/promises';
import type { LoaderProcess } from '../../../bench/loader/loader-process.ts';
import { EventSources } from '../../../libs/testing/src/event-sources.ts';
import { checkHealthy, LoaderScene, type LoaderScenario } from './loader-scene.ts';

interface Size {
  readonly loaders: number;
  readonly sources: number;
  readonly events: number;
  readonly kills: number;
  readonly everyMs: number;
  /** How long one loader is frozen: longer than the expiry of its lock (30 s), or 0 to freeze no loader. */
  readonly frozenMs: number;
}

/**
 * Scenario F20: several loaders load the same growing sources. Loaders are killed (kill -9) one after another and replaced. One loader
 * is frozen (SIGSTOP) during a fetch, until after its lock has expired.
 */
export function loadersKilled(size: Size): LoaderScenario {
  return {
    id: 'F20',
    title: `${size.loaders} loaders, ${size.sources} sources, ${size.kills} killed${size.frozenMs > 0 ? ', one frozen past its lock' : ''}`,
    limitMs: 180_000,
    async run(servers, check) {
      const names = Array.from({ length: size.sources }, (_, index) => `gate-${index}`);
      let currentSize = Math.ceil(size.events / 4);
      let loaderToFreeze: LoaderProcess | undefined;
      let whenFrozen = (): void => undefined;
      const isFrozen = new Promise<void>((resolve) => (whenFrozen = resolve));
      const sources = await EventSources.open({
        sizeOf: () => currentSize,
        // The first loader that sends a request is frozen while it has the lock and its answer is on the way.
        misbehave: () => {
          loaderToFreeze?.signal('SIGSTOP');
          whenFrozen();
          return false;
        },
      });
      const scene = new LoaderScene(
        servers,
        names.map((name) => ({ name, kind: 'http', url: sources.urlOf(name) })),
      );
      try {
        const startedAt = performance.now();
        if (size.frozenMs > 0) {
          loaderToFreeze = scene.start();
          await isFrozen;
        }
        const frozenLoader = loaderToFreeze;
        loaderToFreeze = undefined;
        const thawed = sleep(size.frozenMs).then(() => frozenLoader?.signal('SIGCONT'));
        while (scene.loaders.length < size.loaders) scene.start();
        // Other loaders take over the source of the frozen loader only when its lock has expired, so the timeout is longer then.
        const isAtWork = await scene.waitUntilLoaded(({ stored }) => stored > 0, size.sources, frozenLoader ? 45_000 : 30_000);
        check(isAtWork, 'not every source had a stored event in time');
        for (let kill = 1; kill <= size.kills; kill += 1) {
          currentSize = Math.ceil((size.events * (kill + 1)) / (size.kills + 1));
          await sleep(size.everyMs);
          const victim = scene.living.filter((loader) => loader !== frozenLoader)[kill % (size.loaders - 1)]!;
          victim.signal('SIGKILL');
          await victim.exited;
          scene.start();
        }
        currentSize = size.events;
        await thawed;
        const isLoaded = await scene.waitUntilLoaded(({ cursor }) => Number(cursor) === size.events, size.sources, 60_000);
        check(isLoaded, 'not everything was loaded within a minute after the last kill');
        const seconds = (performance.now() - startedAt) / 1000;
        for (const fault of await scene.stop()) check(false, fault);
        const rows = await scene.rows();
        checkHealthy(rows, () => size.events, sources, check);
        // The page that the frozen loader had fetched must be discarded. Then either its events are counted in `transported_again`,
        // or its fetch has timed out and is counted in `errors`.
        const discarded = rows.reduce((sum, row) => sum + row.transported_again + row.errors, 0);
        check(!frozenLoader || discarded > 0, 'the page of the loader that was frozen past its lock was not discarded');
        const fetchedAgain = sources.total('sentAgain');
        // Each kill can repeat at most one page of 1,000 events.
        const maxFetchedAgain = (size.kills + 1) * 1000;
        check(
          fetchedAgain <= maxFetchedAgain,
          `${fetchedAgain} events fetched twice; the kills explain at most ${maxFetchedAgain}`,
        );
        return {
          events: size.events * size.sources,
          stored_twice: rows.reduce((sum, row) => sum + row.rows - row.distinct_ids, 0),
          transported_twice: fetchedAgain,
          per_second: Math.round((size.events * size.sources) / seconds),
          least_gap_ms: Math.round(sources.minGapMs() * 10) / 10,
        };
      } finally {
        await scene.close();
        await sources.close();
      }
    },
  };
}
