/** How operators can be reached. */
export type AlertWay = 'webhook' | 'mail';

/**
 * People are told that something needs them. Each way is a job of its own, so that a chat that does not answer holds no mail
 * back. `text` is one sentence; never an address, a token or a name.
 */
export interface AlertOperators {
  readonly class: 'alert_operators';
  readonly by: AlertWay;
  readonly about: string;
  readonly text: string;
  readonly at: string;
}

export function alertOperators(alert: { about: string; text: string }, ways: readonly AlertWay[], at: Date): AlertOperators[] {
  const { about, text } = alert;
  return ways.map((by) => ({ class: 'alert_operators', by, about, text, at: at.toISOString() }));
}

/** A job that failed for good is told; an alert that did is not: whom should it tell. */
export function failedJobAlert(job: { id: string; class: string }, ways: readonly AlertWay[], at: Date): AlertOperators[] {
  if (job.class === 'alert_operators') return [];
  const text = `Background job ${job.class} failed for good (TRIBINA-INFRA-9100). \`jobs:failed\` shows why, \`jobs:retry ${job.id}\` tries again.`;
  return alertOperators({ about: `failed job ${job.class}`, text }, ways, at);
}
