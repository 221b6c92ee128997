/** The channels over which operators can be alerted. */
export type AlertChannel = 'webhook' | 'mail';

/**
 * Background job that alerts operators to a problem. Each channel (webhook, mail) gets its own job, so a webhook that fails does
 * not delay the mail. `text` must not contain addresses, tokens or names.
 */
export interface AlertOperators {
  readonly class: 'alert_operators';
  readonly by: AlertChannel;
  readonly about: string;
  readonly text: string;
  /** How many facts `text` reports, for example failed jobs. Absent in jobs of earlier versions, which had one fact. */
  readonly count?: number | undefined;
  readonly at: string;
}

/** With more facts the text would be too long: chats cut it off, and nobody reads it. */
const MAX_LISTED_FACTS = 20;

/** Makes one alert from several facts of the same kind (`about`). Its text lists up to 20 facts and the number of further ones. */
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
