import type { z } from 'zod';
import { crossChecks } from './cross-checks.ts';

/** Thrown with all faults of the settings at once. Values are never shown, because they may be secrets. */
export class ConfigFaults extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigFaults';
  }
}

/** Exit code for an invalid configuration (EX_CONFIG of sysexits.h). */
const EXIT_CONFIG = 78;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the typed configuration, or throws ConfigFaults. A pure function of the environment. Each setting is parsed separately,
 * so that rules between settings are checked even if another setting is invalid. An empty variable counts as absent.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, env: Environment): z.output<S> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const text = env[name]?.trim();
    const parsed = field.safeParse(text === '' ? undefined : text);
    if (parsed.success) values[name] = parsed.data;
    else if (text) faults.push(...parsed.error.issues.map((issue) => `${name}: ${issue.message}`));
    else faults.push(`${name}: is needed`);
  }
  faults.push(...crossChecks(values));
  if (faults.length > 0) throw new ConfigFaults([...new Set(faults)]);
  return values as z.output<S>;
}

/** Like `loadConfig`, but prints the faults and ends the process. */
export function loadConfigOrExit<S extends z.ZodObject>(schema: S, env: Environment): z.output<S> {
  return exitWithFaults(() => loadConfig(schema, env));
}

/** Returns the settings that `load` gives. If it throws ConfigFaults, prints them and ends the process. */
export function exitWithFaults<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigFaults)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}
