import { toProblem } from '#platform/http/problem';

/** Status and code that a service would answer for an error, such as "503 LOCK_TIMEOUT". A 500 has the error message added. */
export function refusalOf(error: unknown): string {
  const { status, code } = toProblem(error, 'bench');
  const message = status === 500 ? `: ${error instanceof Error ? error.message : String(error)}`.slice(0, 120) : '';
  return `${status} ${code}${message}`;
}
