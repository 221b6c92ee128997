/** The channels over which operators can be alerted. */
export type AlertChannel = 'webhook' | 'mail';

/**
 * Background job that tells operators about a problem. Each channel has its own job, so a webhook that fails does not delay the
 * mail. `text` must not contain addresses, tokens or names.
 */
export interface AlertOperators {
  readonly class: 'alert_operators';
  readonly by: AlertChannel;
  readonly about: string;
  readonly text: string;
  /** Number of facts in `text`. Absent in jobs of earlier versions, which had one fact. */
  readonly count?: number | undefined;
  readonly at: string;
}

/** Longer texts are cut off by chats, and nobody reads them. */
const MAX_LISTED_FACTS = 20;

/** Makes one alert for all facts of one kind. Lists up to 20 of them and gives the number of the others. */
export function alertOperators(
  { about, texts }: { about: string; texts: readonly string[] },
  by: AlertChannel,
  at: Date,
): AlertOperators {
  const more = texts.length - MAX_LISTED_FACTS;
  const list = texts.slice(0, MAX_LISTED_FACTS).join('; ') + (more > 0 ? `; and ${more} more` : '');
  const text = texts.length === 1 ? list : `${texts.length} times: ${list}`;
  return { class: 'alert_operators', by, about, text, count: texts.length, at: at.toISOString() };
}
