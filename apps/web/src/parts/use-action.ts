import { useCallback, useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';

/** Runs actions that call the API, and tells whether one is running and how the latest one failed. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  /** Resolves to true if the action succeeded. Never rejects. */
  const run = useCallback(async (action: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await action();
      return true;
    } catch (caught) {
      setProblem(toProblem(caught));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { busy, problem, setProblem, run };
}
