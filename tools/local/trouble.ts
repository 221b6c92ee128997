/**
 * An error that the user can fix. It has a sentence that says what is wrong and a sentence that says what to do, and is printed
 * without a stack trace. Every other error is a bug in Tribina and is printed with its stack trace.
 */
export class UserError extends Error {
  readonly whatToDo: string;
  readonly exitCode: number;

  constructor(problem: string, whatToDo: string, exitCode = 1) {
    super(problem);
    this.name = 'UserError';
    this.whatToDo = whatToDo;
    this.exitCode = exitCode;
  }
}

/** The exit code for an invalid setting (EX_CONFIG of sysexits.h). The services use the same code. */
export const BAD_SETTINGS = 78;

/** The text that a failed command prints. */
export function explain(error: unknown): string {
  if (error instanceof UserError) return `${error.message} ${error.whatToDo}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Turns a file error of the operating system into an error with an instruction for the user. Returns any other error unchanged.
 */
export function explainFileError(error: unknown, file: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const orMoveHome = 'or set TRIBINA_HOME to another folder.';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new UserError(`No disk space left for ${file}.`, `Free some space ${orMoveHome}`);
  if (code === 'EACCES' || code === 'EPERM')
    return new UserError(`${file} cannot be written to.`, `Correct its owner or mode ${orMoveHome}`);
  if (code === 'EROFS') return new UserError(`${file} is on a read-only file system.`, `Make it writable ${orMoveHome}`);
  if (code === 'ENOENT') return new UserError(`${file} cannot be made.`, `Check the folder above it, ${orMoveHome}`);
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return new UserError(`${file} is not a folder.`, `Move that file away ${orMoveHome}`);
  return error;
}
