import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceSettings } from './settings.ts';

/** How often the services that are not ready are printed. Long enough for a cold start on a busy machine. */
const REPORT_INTERVAL_MS = 20_000;
const LINES_TIMEOUT_MS = 5_000;

/**
 * Resolves when every service answers 200 on /health/ready. There is no timeout, but the services that are not ready are printed
 * every 20 s.
 */
export async function waitUntilAllReady(
  services: ServiceSettings[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let nextReportAt = Date.now() + REPORT_INTERVAL_MS;
  for (;;) {
    const answers = await Promise.all(services.map(async (service) => ({ service, problem: await readyProblem(service.url) })));
    const missing = answers.filter(({ problem }) => problem);
    if (missing.length === 0) return;
    if (Date.now() > nextReportAt) {
      say(`still waiting for ${missing.map(({ service, problem }) => `${service.name} (${problem})`).join(', ')}`);
      nextReportAt = Date.now() + REPORT_INTERVAL_MS;
    }
    await sleep(100, undefined, { signal });
  }
}

/**
 * Waits until the queue service knows the lines of all matches. A new Redis has no lines; the monolith sends them to the queue
 * service within two seconds after both services are up. After this wait a fan can join at once. If the lines are not known after
 * 5 s, the function returns without an error: the services log the reason, and everything except the lines is ready.
 */
export async function waitUntilLinesAreKnown(services: ServiceSettings[], signal: AbortSignal): Promise<void> {
  const urlOf = (wanted: string) => services.find(({ name }) => name === wanted)!.url;
  const deadline = Date.now() + LINES_TIMEOUT_MS;
  const matchIds = await matchesWithLines(urlOf('monolith')).catch(() => []);
  const isKnown = async (id: string) => (await get(`${urlOf('queue-service')}/api/v1/queue/${id}/status`)).status === 200;
  const areAllKnown = async () => (await Promise.all(matchIds.map(isKnown))).every(Boolean);
  while (Date.now() < deadline && !(await areAllKnown().catch(() => false))) await sleep(50, undefined, { signal });
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
