import { readStatus, type SourceStatus } from '#event-loader/adapters/loader-status';
import type { Command } from 'commander';
import { configuredSources, databaseUrl, loaderSources, print, withDatabase } from './environment.ts';
import { runLoader } from './run-loader.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Adds the commands of the event loader: `loader:run` and `loader:status`. */
export function addLoaderCommands(program: Command): void {
  program
    .command('loader:run')
    .description('fetch events from all sources in LOADER_SOURCES into the database; any number of loaders may run at once')
    .option('--once', 'poll each source once, then stop')
    .option('--alive-file <path>', 'write this file every few seconds while the sources are polled, for a probe of the container')
    .action(async ({ once = false, aliveFile }: { once?: boolean; aliveFile?: string }) => {
      const sources = loaderSources();
      const stop = new AbortController();
      const onSignal = (): void => stop.abort();
      for (const signal of SIGNALS) process.on(signal, onSignal);
      try {
        for (const line of await runLoader(sources, { once, aliveFile, stop: stop.signal })) print(line);
      } finally {
        for (const signal of SIGNALS) process.off(signal, onSignal);
      }
    });

  program
    .command('loader:status')
    .description('the progress of the event loader for each source')
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ json }: { json?: boolean }) => {
      const status = await withDatabase(databaseUrl(), (dataSource) =>
        readStatus((sql) => dataSource.query(sql), configuredSources()),
      );
      if (json) return print(JSON.stringify(status));
      if (status.length === 0) return print('no source has been polled yet, and LOADER_SOURCES names none');
      for (const line of status.map(lineOf)) print(line);
    });
}

function lineOf(status: SourceStatus): string {
  const { source, cursor, gaps, missing, due, parked, conflicts, last_error } = status;
  const counts = [
    `${status.stored} stored`,
    `${status.refused_duplicates} duplicate(s) refused`,
    `${status.quarantined} quarantined`,
    status.transported_again > 0 && `${status.transported_again} fetched again`,
    gaps > 0 && `${gaps} id(s) skipped`,
    missing && `${missing} missing by the source's own count`,
    due > 0 && `${due} waiting for their effect`,
    parked > 0 && `${parked} parked`,
    conflicts > 0 && `${conflicts} conflict(s)`,
  ];
  const position = cursor === null ? 'at the beginning' : `at ${cursor}`;
  return `${source}: ${position}, ${counts.filter(Boolean).join(', ')}${last_error ? `; ${last_error}` : ''}`;
}
