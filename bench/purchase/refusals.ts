import { toProblem } from '#platform/http/problem';

/** "503 LOCK_TIMEOUT": what the caller would be answered over HTTP. A defect is told by its own words, so that it is seen. */
export function refusalOf(error: unknown): string {
  const { status, code } = toProblem(error, 'bench');
  const words = status === 500 ? `: ${error instanceof Error ? error.message : String(error)}`.slice(0, 120) : '';
  return `${status} ${code}${words}`;
}
