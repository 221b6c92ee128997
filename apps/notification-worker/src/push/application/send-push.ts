import type { Clock } from '#application/clock';
import type { PushJob } from '#contracts/queue-jobs';
import type { Delivered, Pushes } from './ports.ts';

/** Hands a notification to the fan's devices, once, and only while it is worth something. */
export class SendPush {
  constructor(
    private readonly pushes: Pushes,
    private readonly clock: Clock,
  ) {}

  async execute(job: PushJob): Promise<Delivered | 'expired'> {
    const usefulUntil = job.useful_until === undefined ? Infinity : Date.parse(job.useful_until);
    if (this.clock.now().getTime() >= usefulUntil) return 'expired';
    return this.pushes.send({
      messageId: job.job_id,
      template: job.template,
      userId: job.user_id,
      tokens: [...new Set(job.fcm_tokens)],
      title: job.payload.title,
      body: job.payload.body,
    });
  }
}
