/** "Dinamo Zagreb – Hajduk Split"; the dash stays with the first team when a narrow screen breaks the line. */
export function matchTitle({ home, away }: { home: string; away: string }): string {
  return `${home}\u00a0– ${away}`;
}
