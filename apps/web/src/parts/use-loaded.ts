import { useCallback, useEffect, useRef, useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';

/** A value that was loaded from the server. `problem` is set if the latest attempt to load it failed. */
export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload(): void;
}

/**
 * Loads a value on mount and whenever `key` changes; with `undefined` as key it loads nothing. With `refreshMs` it reloads at
 * this interval while the page is visible. A failed reload keeps the old value.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string | undefined, refreshMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key?: string; value?: T; problem?: Problem }>({});
  const [reloads, setReloads] = useState(0);
  const latestLoad = useRef(load);
  useEffect(() => {
    latestLoad.current = load;
  });

  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      if (document.visibilityState === 'visible' || refreshMs === undefined) {
        try {
          const value = await latestLoad.current(stop.signal);
          if (stop.signal.aborted) return;
          setState({ key, value });
        } catch (caught) {
          if (stop.signal.aborted) return;
          const problem = toProblem(caught);
          setState((previous) => (previous.key === key ? { ...previous, problem } : { key, problem }));
        }
      }
      if (refreshMs !== undefined && !stop.signal.aborted) timer = setTimeout(() => void run(), refreshMs);
    };
    void run();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, refreshMs, reloads]);

  const reload = useCallback(() => setReloads((previous) => previous + 1), []);
  const current = state.key === key ? state : {};
  return { value: current.value, problem: current.problem, reload };
}
