import { useCallback, useEffect, useRef, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload(): void;
}

/**
 * Loads when it appears and whenever `key` changes; `everyMs` repeats while the page is in sight. A failed repetition keeps
 * the value that is on screen. `undefined` as key loads nothing.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string | undefined, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key?: string; value?: T; problem?: Problem }>({});
  const [round, setRound] = useState(0);
  const latestLoad = useRef(load);
  useEffect(() => {
    latestLoad.current = load;
  });

  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      if (document.visibilityState === 'visible' || everyMs === undefined) {
        try {
          const value = await latestLoad.current(stop.signal);
          if (stop.signal.aborted) return;
          setState({ key, value });
        } catch (caught) {
          if (stop.signal.aborted) return;
          const problem = asProblem(caught);
          setState((before) => (before.key === key ? { ...before, problem } : { key, problem }));
        }
      }
      if (everyMs !== undefined && !stop.signal.aborted) timer = setTimeout(() => void run(), everyMs);
    };
    void run();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const current = state.key === key ? state : {};
  return { value: current.value, problem: current.problem, reload };
}
