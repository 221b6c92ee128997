import type { Command } from 'commander';
import { MatchSearchApi, type MatchSearchRebuild } from '../catalog/catalog.api.ts';
import { cliConfig, print } from './environment.ts';
import { withMonolithContext } from './monolith-context.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

interface RebuildCommandOptions {
  readonly restart?: boolean;
  readonly json?: boolean;
}

/** Adds the command `search:rebuild`. */
export function addSearchCommands(program: Command): void {
  program
    .command('search:rebuild')
    .description('index the words of all matches again, while the services run; continues a rebuild that was interrupted')
    .option('--restart', 'begin with the first match, also if a rebuild was interrupted')
    .option('--json', 'print one JSON document and nothing else')
    .action(rebuild);
}

async function rebuild({ restart = false, json }: RebuildCommandOptions): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const result = await withMonolithContext(cliConfig(), (context) =>
      context.get(MatchSearchApi, { strict: false }).rebuild({ restart, onProgress, stop: stop.signal }),
    );
    print(json ? JSON.stringify(asJson(result)) : lineOf(result));
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

function onProgress(done: number, total: number): void {
  process.stderr.write(`${done} of ${total} matches (${Math.floor((100 * done) / total)} %)\n`);
}

function lineOf({ isComplete, continuedFrom, indexed }: MatchSearchRebuild): string {
  const before = continuedFrom
    ? `, after the ${continuedFrom.done} of the rebuild that began at ${continuedFrom.startedAt.toISOString()}`
    : '';
  const end = isComplete ? 'the search index is complete' : 'stopped: run the command again to continue';
  return `indexed ${indexed} match(es)${before}; ${end}`;
}

function asJson({ isComplete, continuedFrom, indexed }: MatchSearchRebuild): Record<string, unknown> {
  return {
    complete: isComplete,
    indexed,
    continued_from: continuedFrom && { started_at: continuedFrom.startedAt.toISOString(), done: continuedFrom.done },
  };
}
