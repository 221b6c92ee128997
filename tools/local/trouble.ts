/**
 * Something the person at the keyboard can mend: one sentence saying what is wrong, one saying what to do. It is printed
 * without a stack trace; every other error is a defect of ours and keeps its stack.
 */
export class Trouble extends Error {
  readonly whatToDo: string;
  readonly exitCode: number;

  constructor(problem: string, whatToDo: string, exitCode = 1) {
    super(problem);
    this.name = 'Trouble';
    this.whatToDo = whatToDo;
    this.exitCode = exitCode;
  }
}

/** A setting that cannot be right (EX_CONFIG of sysexits.h, and what the services answer too). */
export const BAD_SETTINGS = 78;

/** What a failed command should print. */
export function explain(error: unknown): string {
  if (error instanceof Trouble) return `${error.message} ${error.whatToDo}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Turns the operating system's refusals about files into sentences; anything else passes through unchanged. */
export function fileTrouble(error: unknown, place: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const elsewhere = 'or set TRIBINA_HOME to another folder.';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Trouble(`No disk space left for ${place}.`, `Free some space ${elsewhere}`);
  if (code === 'EACCES' || code === 'EPERM')
    return new Trouble(`${place} cannot be written to.`, `Mend its owner or mode ${elsewhere}`);
  if (code === 'EROFS') return new Trouble(`${place} is on a read-only file system.`, `Make it writable ${elsewhere}`);
  if (code === 'ENOENT') return new Trouble(`${place} cannot be made.`, `Look at the folder above it, ${elsewhere}`);
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return new Trouble(`${place} is not a folder.`, `Move that file away ${elsewhere}`);
  return error;
}
