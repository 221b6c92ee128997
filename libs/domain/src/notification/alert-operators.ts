/** People are told that something needs them. `text` is one sentence; never an address, a token or a name. */
export interface AlertOperators {
  readonly class: 'alert_operators';
  readonly about: string;
  readonly text: string;
  readonly at: string;
}

/** A job that failed for good is told; an alert that did is not: whom should it tell. */
export function failedJobAlert(job: { id: string; class: string }, at: Date): AlertOperators[] {
  if (job.class === 'alert_operators') return [];
  const text = `Background job ${job.class} failed for good (TRIBINA-INFRA-9100). \`jobs:failed\` shows why, \`jobs:retry ${job.id}\` tries again.`;
  return [{ class: 'alert_operators', about: `failed job ${job.class}`, text, at: at.toISOString() }];
}
