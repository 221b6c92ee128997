/**
 * The title of a match: "Dinamo Zagreb – Hajduk Split". A no-break space keeps the dash beside the first team when the title
 * wraps.
 */
export function matchTitle({ home, away }: { home: string; away: string }): string {
  return `${home}\u00a0– ${away}`;
}
