import type { OwnServers } from '../../bench/instruments/own-servers.ts';
import { audit, type Figures } from './audit.ts';
import { Scene } from './scene.ts';

/** One fault and what must hold while it lasts. */
export interface Scenario {
  /** The id in research/reliability.md, for scenarios that are described there. */
  readonly id: string;
  readonly title: string;
  /** True if the scenario kills PostgreSQL or Redis, so it needs servers that no other test uses. */
  readonly needsServers?: boolean;
  /** True if acknowledged requests may be lost, as with asynchronous replication. They are then counted and are no fault. */
  readonly mayLose?: boolean;
  readonly limitMs: number;
  /** Runs the scenario and checks its own guarantees. The guarantees of all scenarios are checked by `audit`. */
  run(scene: Scene, check: Check): Promise<Figures>;
}

/** Records `fault` if the condition is false. The scenario continues, so that one run reports all faults. */
export type Check = (isTrue: boolean, fault: string) => void;

const MAX_FAULTS_SHOWN = 8;

/** The outcome of one scenario. It passed if `faults` is empty. */
export interface ScenarioResult {
  readonly id: string;
  readonly title: string;
  readonly seconds: number;
  readonly figures: Figures;
  readonly faults: readonly string[];
}

/** Runs a scenario in a new scene and closes the scene. */
export async function runScenario(scenario: Scenario, servers?: OwnServers): Promise<ScenarioResult> {
  const scene = await Scene.open({ servers });
  const result = await runScenarioIn(scene, scenario);
  try {
    await scene.close();
    return result;
  } catch (error) {
    return { ...result, faults: [...result.faults, `the scene was not closed: ${String(error)}`] };
  }
}

/** Runs a scenario in a scene that earlier scenarios may have used. The audit checks their acknowledged requests again. */
export async function runScenarioIn(
  scene: Scene,
  { id, title, limitMs, mayLose = false, run }: Scenario,
): Promise<ScenarioResult> {
  const begunAt = Date.now();
  const faults: string[] = [];
  let figures: Figures = {};
  scene.startScenario();
  try {
    const check: Check = (isTrue, fault) => void (isTrue || faults.push(fault));
    const scenarioFigures = await withTimeout(limitMs, run(scene, check));
    const audited = await audit(scene, { mayLose });
    figures = { ...scenarioFigures, ...audited.figures };
    faults.push(...audited.faults);
  } catch (error) {
    faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const shown = faults.slice(0, MAX_FAULTS_SHOWN).map((fault) => fault.slice(0, 900));
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  return { id, title, seconds: Math.round((Date.now() - begunAt) / 100) / 10, figures, faults: shown };
}

async function withTimeout<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the scenario was not finished after ${limitMs / 1000} s`)), limitMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
