import { queueNames, type JobPosition, type JobState, type QueueName } from '#contracts/jobs';
import { jobQueues, type JobQueue } from '#contracts/queue-jobs';
import { JobInterventions, JobRetries, type JobLedger, type JobRow } from '#messaging/jobs/job-ledger';
import type { JobTransport } from '#messaging/jobs/job-transport';
import type { NotificationQueues, QueuedNotification } from '#messaging/jobs/notification-queues';
import type { OutboxMessageView, ParkedMessages } from '#messaging/outbox/parked-messages';
import { searchableTexts, withoutSecrets } from '#domain/notification/masked';
import type { JobFilter, JobPage, JobView } from './jobs.api.ts';

/** A page examines at most this many jobs. When few of them match the filter, the page ends before it is full. */
const MAX_EXAMINED = 2_000;
/** How many jobs one query reads when all jobs are examined. */
const CHUNK_SIZE = 500;
const STATES_OF_LEDGER = { waiting: 'open', delayed: 'open', active: 'open', completed: 'done', failed: 'failed' } as const;
const ALL_STATES = Object.keys(STATES_OF_LEDGER) as JobState[];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Found = Omit<JobView, 'interventions'>;

/**
 * The jobs of all queues as one list, sorted by id, the greatest first: mails and pushes in their queues in Redis, the general
 * jobs (all other background jobs) recorded in PostgreSQL, and the parked outbox messages. Our ids begin with their time, so this
 * is newest first, and a job keeps its place when its state changes.
 */
export class JobList {
  constructor(
    private readonly sources: {
      readonly notifications: NotificationQueues;
      readonly ledger: JobLedger;
      readonly transport: JobTransport;
      readonly parked: ParkedMessages;
      readonly retries: JobRetries;
      readonly interventions: JobInterventions;
    },
  ) {}

  /**
   * The jobs that match the filter, at most `limit`. With `examineAll` the page ends only when it is full or when no job is left.
   */
  async page(filter: JobFilter, limit: number, { examineAll = false } = {}): Promise<JobPage> {
    const matches = await this.matcher(filter);
    const found: Found[] = [];
    let examined = 0;
    let next: JobPosition | undefined;
    for await (const job of this.candidates(filter, examineAll ? CHUNK_SIZE : Math.min(limit, CHUNK_SIZE))) {
      if (!examineAll && examined === MAX_EXAMINED) break;
      const isMatch = matches(job);
      if (isMatch && found.length === limit) return { jobs: await this.withInterventions(found), next: found.at(-1) };
      if (isMatch) found.push(job);
      examined += 1;
      next = job;
    }
    const isComplete = examineAll || examined < MAX_EXAMINED;
    return { jobs: await this.withInterventions(found), next: isComplete ? undefined : next };
  }

  /** All failed jobs that match the filter. Reads them in chunks, so that other requests are answered in between. */
  async failed(filter: Omit<JobFilter, 'state' | 'after'>): Promise<Pick<JobView, 'id' | 'queue' | 'template'>[]> {
    const wanted: JobFilter = { ...filter, state: 'failed' };
    const matches = await this.matcher(wanted);
    const found: Pick<JobView, 'id' | 'queue' | 'template'>[] = [];
    for await (const job of this.candidates(wanted, CHUNK_SIZE)) {
      if (matches(job)) found.push({ id: job.id, queue: job.queue, template: job.template });
    }
    return found;
  }

  async find(id: string): Promise<JobView | undefined> {
    const row = UUID.test(id) ? await this.sources.ledger.find(id) : undefined;
    if (row) return (await this.withInterventions(await this.rowsAsJobs([row])))[0];
    const message = UUID.test(id) ? await this.sources.parked.find(id) : undefined;
    if (message) return (await this.withInterventions([messageAsJob(message)]))[0];
    const pending = await this.sources.retries.pending();
    const job = await this.sources.notifications.find(id);
    return job ? (await this.withInterventions([notificationAsJob(job, pending)]))[0] : undefined;
  }

  /** Jobs of which some do not match the filter. No matching job is missing, and none comes twice. */
  private async *candidates(filter: JobFilter, chunkSize: number): AsyncGenerator<Found> {
    const { queue, state } = filter;
    const wants = (name: QueueName): boolean => queue === undefined || queue === name;
    // Read before Redis: a retry that is delivered in between is not failed in Redis any more.
    const pending = await this.sources.retries.pending();
    yield* merged([
      ...jobQueues.filter(wants).map((name) => this.notifications(name, filter, { pending, chunkSize })),
      ...(wants('jobs') ? [this.general(filter, chunkSize)] : []),
      ...(wants('outbox') && (state === undefined || state === 'failed') ? [this.parkedMessages(filter, chunkSize)] : []),
    ]);
  }

  private async *notifications(
    name: JobQueue,
    { state, after, text }: JobFilter,
    { pending, chunkSize }: { readonly pending: ReadonlySet<string>; readonly chunkSize: number },
  ): AsyncGenerator<Found> {
    // A failed job whose retry is not yet delivered is shown as waiting.
    const states = state === 'waiting' && pending.size > 0 ? (['waiting', 'failed'] as const) : state ? [state] : ALL_STATES;
    const listed = (await this.sources.notifications.ids(name, states, text))
      .filter(({ id }) => !after || isAfter({ id, queue: name }, after))
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    for (let start = 0; start < listed.length; start += chunkSize) {
      const jobs = await this.sources.notifications.read(name, listed.slice(start, start + chunkSize));
      for (const job of jobs) yield notificationAsJob(job, pending);
    }
  }

  private async *general({ state, template, text, after }: JobFilter, chunkSize: number): AsyncGenerator<Found> {
    const filter = { state: state ? STATES_OF_LEDGER[state] : ('any' as const), class: template, text: inSql(text) };
    for (let before = boundOf(after, 'jobs'); ;) {
      const rows = await this.sources.ledger.list({ ...filter, before, limit: chunkSize });
      for (const job of await this.rowsAsJobs(rows)) yield job;
      before = rows.at(-1)?.id;
      if (rows.length < chunkSize) return;
    }
  }

  private async *parkedMessages({ template, text, after }: JobFilter, chunkSize: number): AsyncGenerator<Found> {
    for (let before = boundOf(after, 'outbox'); ;) {
      const rows = await this.sources.parked.list({ event: template, text: inSql(text), before, limit: chunkSize });
      for (const message of rows) yield messageAsJob(message);
      before = rows.at(-1)?.id;
      if (rows.length < chunkSize) return;
    }
  }

  private async matcher({ queue, state, template, text }: JobFilter): Promise<(job: Found) => boolean> {
    const searched = text?.toLowerCase();
    const reaches = searched ? await this.sources.notifications.reaches(searched) : undefined;
    return (job) =>
      (queue === undefined || job.queue === queue) &&
      (state === undefined || job.state === state) &&
      (template === undefined || job.template === template) &&
      (searched === undefined || textsOf(job).some((part) => part.toLowerCase().includes(searched)) || reaches?.(job) === true);
  }

  private async rowsAsJobs(rows: readonly JobRow[]): Promise<Found[]> {
    const { transport } = this.sources;
    const open = rows.filter(({ doneAt, failedAt }) => !doneAt && !failedAt).map(({ id }) => id);
    const states = open.length > 0 ? await transport.states(open) : new Map<string, JobState>();
    return rows.map((row): Found => ({
      id: row.id,
      queue: 'jobs',
      template: row.class,
      // The transport (BullMQ in Redis or PostgreSQL) may not know an open job: it was not queued yet, or the transport lost its
      // data. Such a job counts as waiting, because it will be queued.
      state: row.doneAt ? 'completed' : row.failedAt ? 'failed' : openState(states.get(row.id)),
      attempts: row.attempts.toReversed(),
      createdAt: row.createdAt,
      transport: row.transport ?? transport.name,
      payload: row.message,
    }));
  }

  private async withInterventions(jobs: readonly Found[]): Promise<JobView[]> {
    const all = jobs.length > 0 ? await this.sources.interventions.of(jobs.map(({ id }) => id)) : [];
    return jobs.map((job) => ({
      ...job,
      interventions: all.filter(({ jobId, queue }) => jobId === job.id && queue === job.queue),
    }));
  }
}

/** True if the list has `job` after `other`. */
function isAfter(job: JobPosition, other: JobPosition): boolean {
  return job.id === other.id ? queueNames.indexOf(job.queue) > queueNames.indexOf(other.queue) : job.id < other.id;
}

/** The text that the ids of a source with one queue must be less than, so that its jobs come after the position. */
function boundOf(position: JobPosition | undefined, queue: QueueName): string | undefined {
  // No UUID is between an id and the same id with a space behind it.
  return position && isAfter({ id: position.id, queue }, position) ? `${position.id} ` : position?.id;
}

/** The search text as SQL finds it inside JSON. Not for letters that PostgreSQL may convert to lower case in another way than we. */
function inSql(text: string | undefined): string | undefined {
  return text !== undefined && /^[ -~]+$/.test(text) ? JSON.stringify(text.toLowerCase()).slice(1, -1) : undefined;
}

/** Merges lists that are sorted as the whole list is. */
async function* merged(lists: readonly AsyncGenerator<Found>[]): AsyncGenerator<Found> {
  const heads = await Promise.all(lists.map(async (list) => ({ list, head: await list.next() })));
  for (;;) {
    let first: { list: AsyncGenerator<Found>; head: IteratorResult<Found> } | undefined;
    for (const entry of heads) {
      if (entry.head.done) continue;
      if (!first || first.head.done || isAfter(first.head.value, entry.head.value)) first = entry;
    }
    if (!first || first.head.done) return;
    yield first.head.value;
    first.head = await first.list.next();
  }
}

/** The texts of a job in which `q` is searched: nothing that the answer masks, except whole email addresses. */
function textsOf(job: Found): string[] {
  return [job.id, job.template, ...job.attempts.map(({ error }) => withoutSecrets(error)), ...searchableTexts(job.payload)];
}

function notificationAsJob(job: QueuedNotification, pendingRetries: ReadonlySet<string>): Found {
  const isRetried = job.state === 'failed' && pendingRetries.has(`${job.queue} ${job.id}`);
  return { ...job, state: isRetried ? 'waiting' : job.state, transport: 'redis' };
}

function messageAsJob(message: OutboxMessageView): Found {
  const { id, event, destination, aggregateId, attempts, body, parkedAt, isDue } = message;
  return {
    id,
    queue: 'outbox',
    template: event,
    state: parkedAt ? 'failed' : isDue ? 'waiting' : 'delayed',
    attempts: message.failures.map(({ at, error }) => ({ at: new Date(at).toISOString(), error, stack: '' })).toReversed(),
    createdAt: message.createdAt,
    transport: 'postgres',
    payload: { destination, aggregate_id: aggregateId, attempts, body },
  };
}

function openState(state: JobState | undefined): JobState {
  return state === 'delayed' || state === 'active' ? state : 'waiting';
}
