import type { AvailabilityMessage } from '#contracts/seats';

/** Number of available seats by sector id. */
export type Availability = ReadonlyMap<string, number>;

/** Parses a message of the availability stream. Undefined for a message that this version of the page does not know. */
export function readAvailability(text: string): AvailabilityMessage | undefined {
  try {
    const message = JSON.parse(text) as Partial<AvailabilityMessage>;
    const known = message.type === 'snapshot' || message.type === 'diff';
    return known && Array.isArray(message.sectors) ? (message as AvailabilityMessage) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Applies a message to the numbers of available seats. A snapshot replaces all numbers; a diff changes only the sectors that it
 * names.
 */
export function applyAvailabilityMessage(before: Availability, message: AvailabilityMessage): Availability {
  const next = new Map(message.type === 'snapshot' ? [] : before);
  for (const sector of message.sectors) next.set(sector.id, sector.available);
  return next;
}
