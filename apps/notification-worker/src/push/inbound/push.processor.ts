import { anyPushJob, type AnyPushJob, type BroadcastJob, type JobQueue, type PushJob } from '#contracts/queue-jobs';
import { Histogram } from 'prom-client';
import { QueueProcessor, type ProcessorOptions } from '#messaging/sending/queue-processor';
import type { Broadcasts, Pushes } from '../application/ports.ts';

/** The queues of pushes. Each has its own concurrency, so "your turn" never waits for the jobs of a broadcast. */
type PushQueue = Exclude<JobQueue, 'email'>;

/** Processes the jobs of the queues `push-priority` and `push`. */
export class PushProcessor extends QueueProcessor<PushQueue, AnyPushJob> {
  private readonly latency: Histogram;

  constructor(
    private readonly pushes: Pushes,
    private readonly broadcasts: Broadcasts,
    concurrency: Readonly<Record<PushQueue, number>>,
    options: ProcessorOptions,
  ) {
    super(anyPushJob, concurrency, options);
    this.latency = new Histogram({
      name: 'notification_push_latency_seconds',
      help: 'Seconds from the creation of a push to its delivery to the provider.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600],
      registers: [options.metrics.registry],
    });
  }

  /** Ends the current sends, too: each stops after its current group of devices, and another worker continues it. */
  override onModuleDestroy(): void {
    this.pushes.stop();
    super.onModuleDestroy();
  }

  protected async handle(job: AnyPushJob, queue: PushQueue): Promise<string> {
    if (!('ranges' in job)) return this.sendIfUseful(job, () => this.send(job, queue === 'push-priority'));
    await this.options.jobs.unpack(queue, job);
    return 'unpacked';
  }

  private async send(job: PushJob | BroadcastJob, urgent: boolean): Promise<string> {
    const recipients =
      'range' in job
        ? { broadcastId: job.broadcast_id, tokens: await this.broadcasts.tokens(job.broadcast_id, job.range) }
        : { userId: job.user_id, tokens: [...new Set(job.fcm_tokens)] };
    const result = await this.pushes.send({
      ...recipients,
      ...job.payload,
      messageId: job.job_id,
      template: job.template,
      urgent,
      usefulUntil: job.useful_until === undefined ? undefined : new Date(job.useful_until),
    });
    if (result.outcome === 'sent') {
      this.options.metrics.count('sent', job.template, result.devices);
      this.latency.observe(Math.max(0, (Date.now() - Date.parse(job.created_at)) / 1000));
    }
    return result.outcome;
  }
}
