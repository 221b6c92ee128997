import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceSettings } from './settings.ts';

/** Long enough for a cold start on a busy machine; after that somebody may want to know what the wait is for. */
const PATIENCE_MS = 20_000;
const LINES_PATIENCE_MS = 5_000;

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

/**
 * A new Redis knows no line; the monolith tells the waiting room of its matches within a second or two of both being there. Who
 * waits for us may join at once. Should it take longer, the services say why, and everything else is ready.
 */
export async function waitUntilLinesAreKnown(services: ServiceSettings[], signal: AbortSignal): Promise<void> {
  const urlOf = (wanted: string) => services.find(({ name }) => name === wanted)!.url;
  const giveUpAt = Date.now() + LINES_PATIENCE_MS;
  const lines = await matchesWithLines(urlOf('monolith')).catch(() => []);
  const isKnown = async (id: string) => (await get(`${urlOf('queue-service')}/api/v1/queue/${id}/status`)).status === 200;
  const areKnown = async () => (await Promise.all(lines.map(isKnown))).every(Boolean);
  while (Date.now() < giveUpAt && !(await areKnown().catch(() => false))) await sleep(50, undefined, { signal });
}

async function matchesWithLines(monolithUrl: string): Promise<string[]> {
  const { text } = await get(`${monolithUrl}/api/v1/matches`);
  const { items } = JSON.parse(text) as { items: { id: string; queue_required: boolean; sale: { status: string } }[] };
  return items.filter((match) => match.queue_required && match.sale.status !== 'closed').map(({ id }) => id);
}

async function readyProblem(url: string): Promise<string | undefined> {
  try {
    const { status, text } = await get(`${url}/health/ready`);
    return status === 200 ? undefined : `${status} ${text.slice(0, 300)}`;
  } catch {
    return 'does not answer';
  }
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  return { status: answer.status, text: await answer.text() };
}
