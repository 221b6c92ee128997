import { toProblem } from '#platform/http/problem';

/** The HTTP answer to an error, such as "503 LOCK_TIMEOUT". For a 500 also the error message, so that the defect is visible. */
export function refusalOf(error: unknown): string {
  const { status, code } = toProblem(error, 'bench');
  const message = status === 500 ? `: ${error instanceof Error ? error.message : String(error)}`.slice(0, 120) : '';
  return `${status} ${code}${message}`;
}
