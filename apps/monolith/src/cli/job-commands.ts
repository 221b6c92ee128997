import { jobStates, queueNames, type QueueName } from '#contracts/jobs';
import { masked, maskedText } from '#domain/notification/masked';
import { Option, type Command } from 'commander';
import { userInfo } from 'node:os';
import { JobsApi, type JobCounts, type JobFilter, type JobView } from '../jobs/jobs.api.ts';
import { errorText, print, stopSignal, wholeNumber } from './environment.ts';
import { withApi } from './monolith-context.ts';

/** The most jobs that one command lists or retries. Run the command again for the remaining jobs. */
const MAX_JOBS_PER_COMMAND = 10_000;

const OPERATOR = `cli:${userInfo().username}`;

interface Filters {
  readonly queue?: QueueName;
  readonly template?: string;
  readonly q?: string;
}

type OutputOptions = Filters & { readonly json?: boolean };
type ChangeOptions = OutputOptions & { readonly dryRun?: boolean };

function withFilters(command: Command): Command {
  return command
    .addOption(new Option('--queue <name>', 'only this queue').choices(queueNames))
    .option('--template <name>', 'only messages of this template, or general jobs of this class')
    .option('--q <text>', 'only jobs about this order, fan, match or address, with this id, or with this part of an error');
}

const withJson = (command: Command): Command => command.option('--json', 'print one JSON document and nothing else');

/** Adds the commands whose names begin with `jobs:`. */
export function addJobCommands(program: Command): void {
  program
    .command('jobs:consume')
    .description('run general background jobs, in parallel with the services')
    .option('--limit <n>', 'stop after this many jobs', wholeNumber(1, 1_000_000), 1000)
    .option('--time-limit <seconds>', 'stop after this many seconds', wholeNumber(1, 86_400), 55)
    .option('--until-empty', 'stop as soon as no job is waiting')
    .action(consume);
  withJson(
    program.command('jobs:stats').description('the number of jobs in each queue, and how long the oldest has waited'),
  ).action(async ({ json }: OutputOptions) => {
    const counts = await withApi(JobsApi, (jobs) => jobs.counts());
    if (json)
      return print(
        JSON.stringify(
          counts.map(({ oldestWaitingSeconds, ...states }) => ({ ...states, oldest_waiting_seconds: oldestWaitingSeconds })),
        ),
      );
    for (const line of counts) print(statsLine(line));
  });
  withJson(withFilters(program.command('jobs:failed').description('jobs whose attempts have all failed, newest first')))
    .option('--limit <n>', 'show at most this many jobs', wholeNumber(1, MAX_JOBS_PER_COMMAND), 20)
    .option('--stack', 'show the stack trace of the last attempt')
    .option('--reveal', 'show addresses, names and codes, which are masked by default')
    .action(failed);
  withJson(withFilters(program.command('jobs:retry').description('retry failed jobs; each gets all its attempts again')))
    .argument('[ids...]', 'ids of failed jobs')
    .option('--all', 'all failed jobs, or all that match the filters')
    .option('--dry-run', 'count the jobs and change nothing')
    .action(retry);
  withJson(program.command('jobs:drop').description('delete a job that is waiting or has failed'))
    .argument('<ids...>', 'ids of jobs')
    .option('--dry-run', 'show the jobs and change nothing')
    .action(drop);
}

async function consume(options: { limit: number; timeLimit: number; untilEmpty?: boolean }): Promise<void> {
  const stop = stopSignal();
  const { limit, timeLimit: timeLimitSeconds, untilEmpty = false } = options;
  const done = await withApi(JobsApi, (jobs) => jobs.consume({ limit, timeLimitSeconds, untilEmpty, stop }));
  print(`did ${done} job(s)`);
}

async function failed(options: OutputOptions & { limit: number; stack?: boolean; reveal?: boolean }): Promise<void> {
  const found = await withApi(JobsApi, (jobs) => jobs.list(filterOf(options), options.limit));
  if (options.json) return print(JSON.stringify(found.map((job) => asJson(job, options.reveal ?? false))));
  print(`${found.length} failed job(s)${found.length === options.limit ? ', there may be more (--limit)' : ''}`);
  for (const job of found) {
    print(lineOf(job));
    if (options.stack) print(maskedText(job.attempts[0]?.stack ?? ''));
  }
}

async function retry(ids: string[], options: ChangeOptions & { all?: boolean }, command: Command): Promise<void> {
  const isFiltered = Boolean(options.queue ?? options.template ?? options.q);
  if (ids.length === 0 && !options.all) command.error('error: give the ids of jobs, or --all', { exitCode: 2 });
  if (ids.length > 0 && (options.all || isFiltered))
    command.error('error: give either ids, or --all with filters', { exitCode: 2 });
  await withApi(JobsApi, async (jobs) => {
    const jobIds = ids.length > 0 ? ids : (await jobs.list(filterOf(options), MAX_JOBS_PER_COMMAND)).map(({ id }) => id);
    await forEach(jobIds, options, 'retried', (id) => jobs.retry({ id, by: OPERATOR }));
  });
}

async function drop(ids: string[], options: ChangeOptions): Promise<void> {
  await withApi(JobsApi, (jobs) => forEach(ids, options, 'dropped', (id) => jobs.drop({ id, by: OPERATOR })));
}

/**
 * Retries or drops the jobs one after another. A job that cannot be changed is reported, and the command continues with the next
 * job.
 */
async function forEach(
  ids: readonly string[],
  { json, dryRun = false }: ChangeOptions,
  change: 'retried' | 'dropped',
  apply: (id: string) => Promise<JobView>,
): Promise<void> {
  if (!json) print(`${ids.length} job(s) to be ${change}${dryRun ? ' (dry run: nothing is changed)' : ''}`);
  const changed: string[] = [];
  const refused: { id: string; reason: string }[] = [];
  for (const id of dryRun ? [] : ids) {
    await apply(id).then(
      () => changed.push(id),
      (error: unknown) => refused.push({ id, reason: errorText(error) }),
    );
  }
  if (json)
    print(
      JSON.stringify({ matched: ids.length, [change]: changed.length, ids: dryRun ? ids : changed, refused, dry_run: dryRun }),
    );
  else if (!dryRun) print(`${change} ${changed.length} job(s)`);
  else for (const id of ids) print(id);
  for (const { id, reason } of refused) process.stderr.write(`${id}: ${reason}\n`);
  if (refused.length > 0) process.exitCode = 1;
}

const filterOf = ({ queue, template, q: text }: Filters): JobFilter => ({ state: 'failed', queue, template, text });

function lineOf({ id, queue, template, createdAt, attempts, interventions }: JobView): string {
  const [last] = attempts;
  const lastIntervention = interventions[0] ? `  last ${interventions[0].action} by ${interventions[0].by}` : '';
  return `${id}  ${queue}/${template}  ${createdAt.toISOString()}  ${attempts.length} attempt(s)  ${maskedText(last?.error ?? '')}${lastIntervention}`;
}

function asJson(job: JobView, reveal: boolean): Record<string, unknown> {
  const { id, queue, template, state, transport, interventions } = job;
  const text = reveal ? (given: string): string => given : maskedText;
  const attempts = job.attempts.map(({ at, error, stack }) => ({ at, error: text(error), stack: text(stack) }));
  const payload = reveal ? job.payload : masked(job.payload);
  return { id, queue, template, state, attempts, created_at: job.createdAt.toISOString(), transport, payload, interventions };
}

function statsLine(counts: JobCounts): string {
  const states = jobStates.map((state) => `${counts[state]} ${state}`).join(', ');
  return `${counts.queue}: ${states}; the oldest waits ${counts.oldestWaitingSeconds} s`;
}
