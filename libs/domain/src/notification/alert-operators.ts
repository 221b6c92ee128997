/** How operators can be reached. */
export type AlertWay = 'webhook' | 'mail';

/**
 * People are told that something needs them. Each way is a job of its own, so that a chat that does not answer holds no mail
 * back. `text` never contains an address, a token or a name.
 */
export interface AlertOperators {
  readonly class: 'alert_operators';
  readonly by: AlertWay;
  readonly about: string;
  readonly text: string;
  /** How many facts the text tells of. Absent in jobs of earlier versions, which told one. */
  readonly count?: number | undefined;
  readonly at: string;
}

/** A chat shows no longer text, and nobody reads it. */
const MOST_IN_FULL = 20;

/** One alert for all facts of one kind. Up to 20 are told in full; of the others it says how many they are. */
export function alertOperators(
  { about, texts }: { about: string; texts: readonly string[] },
  by: AlertWay,
  at: Date,
): AlertOperators {
  const more = texts.length - MOST_IN_FULL;
  const told = texts.slice(0, MOST_IN_FULL).join('; ') + (more > 0 ? `; and ${more} more` : '');
  const text = texts.length === 1 ? told : `${texts.length} times: ${told}`;
  return { class: 'alert_operators', by, about, text, count: texts.length, at: at.toISOString() };
}
