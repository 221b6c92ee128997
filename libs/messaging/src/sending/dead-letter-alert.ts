import { mailTemplates, pushTemplates, type JobQueue } from '#contracts/queue-jobs';
import type { Alert } from './alerts.ts';
import { deadLetterSubject, type StoredDeadLetter, type UnreportedDeadLetter } from '../jobs/dead-letters.ts';
import type { DeadLetter } from '../jobs/queue-consumer.ts';

/** Makes the alert about a job that has just failed for good in this process. */
export function deadLetterAlert(queue: JobQueue, { jobId, template, error, failedAt }: DeadLetter): Alert {
  const subject = failedAt === undefined ? undefined : deadLetterSubject(queue, jobId, failedAt);
  return alertOf({ queue, jobId, template, reason: error.message }, subject);
}

/** Makes the alert about a dead letter that AlertUpkeep found in Redis. It has the same text as `deadLetterAlert`. */
export function unreportedDeadLetterAlert(letter: UnreportedDeadLetter): Alert {
  return alertOf(letter, letter.subject);
}

function alertOf({ queue, jobId, template, reason }: StoredDeadLetter, subject: string | undefined): Alert {
  const [channel, kind, templates] =
    queue === 'email' ? (['email', 'mail', mailTemplates] as const) : (['push', 'push', pushTemplates] as const);
  const label = templates.find((name) => name === template) ?? 'unknown';
  return {
    about: `dead letter ${channel} ${label}`,
    text: `a ${kind} ${label} is in the dead letter: ${reason} (job ${jobId})`,
    // An alert mail that failed for good must not be reported by mail: that mail would fail, too.
    excludedChannel: label === 'ops_alert' ? 'mail' : undefined,
    subject,
  };
}
