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
  /** Longer than a lock lives (30 s), or 0: nobody is frozen. */
  readonly frozenMs: number;
}

/**
 * F20: loaders over the same sources, one killed (kill -9) every now and then and replaced, one frozen past its lock with
 * whatever it has in its hands. Sources grow while this goes on.
 */
export function loadersKilled(size: Size): LoaderScenario {
  return {
    id: 'F20',
    title: `${size.loaders} loaders, ${size.sources} sources, ${size.kills} killed${size.frozenMs > 0 ? ', one frozen past its lock' : ''}`,
    limitMs: 180_000,
    async play(servers, claim) {
      const names = Array.from({ length: size.sources }, (_, index) => `gate-${index}`);
      let grown = Math.ceil(size.events / 4);
      let frozen: LoaderProcess | undefined;
      let whenFrozen = (): void => undefined;
      const isFrozen = new Promise<void>((resolve) => (whenFrozen = resolve));
      const sources = await EventSources.open({
        sizeOf: () => grown,
        // The first to ask is stopped with its lock in its hands and the answer on its way.
        misbehave: () => {
          frozen?.signal('SIGSTOP');
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
          frozen = scene.start();
          await isFrozen;
        }
        const sleeper = frozen;
        frozen = undefined;
        const thawed = sleep(size.frozenMs).then(() => sleeper?.signal('SIGCONT'));
        while (scene.loaders.length < size.loaders) scene.start();
        // All but the one whose lock the sleeper has: that comes when the lock is over.
        const isAtWork = await scene.untilLoaded(({ stored }) => stored > 0, size.sources, sleeper ? 45_000 : 30_000);
        claim(isAtWork, 'the loaders did not get to work');
        for (let kill = 1; kill <= size.kills; kill += 1) {
          grown = Math.ceil((size.events * (kill + 1)) / (size.kills + 1));
          await sleep(size.everyMs);
          const victim = scene.living.filter((loader) => loader !== sleeper)[kill % (size.loaders - 1)]!;
          victim.signal('SIGKILL');
          await victim.gone;
          scene.start();
        }
        grown = size.events;
        await thawed;
        const isLoaded = await scene.untilLoaded(({ cursor }) => Number(cursor) === size.events, size.sources, 60_000);
        claim(isLoaded, 'not everything was loaded within a minute after the last kill');
        const seconds = (performance.now() - startedAt) / 1000;
        for (const fault of await scene.stop()) claim(false, fault);
        const rows = await scene.rows();
        checkHealthy(rows, () => size.events, sources, claim);
        // What the sleeper had in its hands came to nothing: outpaced, or, where its clock rang before it read on, timed out.
        const inVain = rows.reduce((sum, row) => sum + row.transported_again + row.errors, 0);
        claim(!sleeper || inVain > 0, 'the one that was frozen past its lock was neither outpaced nor timed out');
        const again = sources.total('sentAgain');
        // A kill can cost what was just being fetched: at most a page.
        const most = (size.kills + 1) * 1000;
        claim(again <= most, `${again} events transported twice, where ${most} could be explained by kills`);
        return {
          events: size.events * size.sources,
          stored_twice: rows.reduce((sum, row) => sum + row.rows - row.distinct_ids, 0),
          transported_twice: again,
          per_second: Math.round((size.events * size.sources) / seconds),
          least_gap_ms: Math.round(sources.leastGapMs() * 10) / 10,
        };
      } finally {
        await scene.close();
        await sources.close();
      }
    },
  };
}
