import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceSettings } from './settings.ts';

/** Long enough for a cold start on a busy machine; after that somebody may want to know what the wait is for. */
const PATIENCE_MS = 20_000;

/** Resolves when every service answers 200 on /health/ready; waits for ever, but not silently. */
export async function waitUntilAllReady(
  services: ServiceSettings[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let nextWord = Date.now() + PATIENCE_MS;
  for (;;) {
    const answers = await Promise.all(services.map(async (service) => ({ service, problem: await readyProblem(service.url) })));
    const missing = answers.filter(({ problem }) => problem);
    if (missing.length === 0) return;
    if (Date.now() > nextWord) {
      say(`still waiting for ${missing.map(({ service, problem }) => `${service.name} (${problem})`).join(', ')}`);
      nextWord = Date.now() + PATIENCE_MS;
    }
    await sleep(100, undefined, { signal });
  }
}

async function readyProblem(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    if (answer.status === 200) return void (await answer.body?.cancel());
    return `${answer.status} ${(await answer.text()).slice(0, 300)}`;
  } catch {
    return 'does not answer';
  }
}
