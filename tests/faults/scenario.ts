import type { OwnServers } from '../../bench/instruments/own-servers.ts';
import { audit, type Figures } from './audit.ts';
import { Scene } from './scene.ts';

export interface Scenario {
  /** As in research/reliability.md, where it stands there. */
  readonly id: string;
  readonly title: string;
  /** Kills PostgreSQL or Redis: only with servers of its own. */
  readonly needsServers?: boolean;
  /** Plays without the guard against loss, so that the loss is counted and is no fault. */
  readonly mayLose?: boolean;
  readonly limitMs: number;
  /** Says what must hold beyond what every scene is checked for. */
  play(scene: Scene, claim: Claim): Promise<Figures>;
}

/** Notes what is not as it should be, and goes on: one run tells everything. */
export type Claim = (isTrue: boolean, otherwise: string) => void;

/** Of what is broken: enough to begin with. */
const FAULTS_SHOWN = 8;

export interface Result {
  readonly id: string;
  readonly title: string;
  readonly seconds: number;
  readonly figures: Figures;
  readonly faults: readonly string[];
}

/** A scenario from its first process to its last check. */
export async function perform(scenario: Scenario, servers?: OwnServers): Promise<Result> {
  const scene = await Scene.open({ servers });
  const result = await performIn(scene, scenario);
  try {
    await scene.close();
    return result;
  } catch (error) {
    return { ...result, faults: [...result.faults, `not put away: ${String(error)}`] };
  }
}

/** On a scene that may have seen others before: all of what they were promised is checked again. */
export async function performIn(scene: Scene, { id, title, limitMs, mayLose = false, play }: Scenario): Promise<Result> {
  const begunAt = Date.now();
  const faults: string[] = [];
  let figures: Figures = {};
  scene.begin();
  try {
    const claim: Claim = (isTrue, otherwise) => void (isTrue || faults.push(otherwise));
    const played = await within(limitMs, play(scene, claim));
    const checked = await audit(scene, { mayLose });
    figures = { ...played, ...checked.figures };
    faults.push(...checked.faults);
  } catch (error) {
    faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const shown = faults.slice(0, FAULTS_SHOWN).map((fault) => fault.slice(0, 900));
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  return { id, title, seconds: Math.round((Date.now() - begunAt) / 100) / 10, figures, faults: shown };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not over after ${limitMs / 1000} s`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
