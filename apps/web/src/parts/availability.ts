import type { AvailabilityMessage } from '../api/types.ts';

/** Free places by sector id. */
export type Availability = ReadonlyMap<string, number>;

/** Undefined for what this version does not know. */
export function readAvailability(text: string): AvailabilityMessage | undefined {
  try {
    const message = JSON.parse(text) as Partial<AvailabilityMessage>;
    const known = message.type === 'snapshot' || message.type === 'diff';
    return known && Array.isArray(message.sectors) ? (message as AvailabilityMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** A snapshot replaces all numbers; a diff changes the sectors it names. */
export function afterMessage(before: Availability, message: AvailabilityMessage): Availability {
  const next = new Map(message.type === 'snapshot' ? [] : before);
  for (const sector of message.sectors) next.set(sector.id, sector.available);
  return next;
}
