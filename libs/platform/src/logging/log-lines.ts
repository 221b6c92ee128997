import { pino, type DestinationStream, type Logger } from 'pino';

/** Lines that need not be read at once are written together, when they are this long or this old. */
const BUFFER_BYTES = 8 * 1024;
const BUFFER_MS = 500;
/** When nobody reads stdout, further lines are dropped, because the process would run out of memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** A destination of log lines that can also buffer them. */
interface LineDestination extends DestinationStream {
  /** Writes a line within BUFFER_MS, together with others. */
  append(line: string): void;
  flush(done?: (error?: Error | null) => void): void;
  flushSync(): void;
}

/**
 * Log lines to stdout. `write` writes a line soon, `append` within BUFFER_MS. What waits is written when the process exits, also
 * after an uncaught error (pino's exit hook), and when `flush` is called before that. Only a killed process loses lines.
 */
export function stdoutLines(fd = process.stdout.fd): LineDestination {
  const lines = pino.destination({
    dest: fd,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: BUFFER_MS,
    maxLength: MAX_WAITING_BYTES,
  });
  return {
    write: (line) => {
      lines.write(line);
      lines.flush();
    },
    append: (line) => void lines.write(line),
    flush: (done) => lines.flush(done),
    flushSync: () => lines.flushSync(),
  };
}

/**
 * Writes lines of the level `info` without pino, which takes 15 times as long because of its redaction: only for lines that occur
 * with each request or message and whose members are known to be no secrets.
 */
export interface PlainLines {
  /** False if LOG_LEVEL is above `info`; then no line is written. */
  readonly isEnabled: boolean;
  /** `members` are complete JSON members, for example `"status":200,"user":null`. */
  write(members: string, message: string): void;
}

/** The plain lines of a logger: the same service, process and destination, buffered if the destination can buffer. */
export function plainLines(logger: Logger): PlainLines {
  const destination = internalsOf(logger)[pino.symbols.streamSym] as DestinationStream & Partial<LineDestination>;
  const append = destination.append ?? ((line: string) => destination.write(line));
  const base = internalsOf(logger)[pino.symbols.chindingsSym] as string;
  let [millisecond, time] = [0, ''];
  return {
    isEnabled: logger.isLevelEnabled('info'),
    write: (members, message) => {
      const now = Date.now();
      if (now !== millisecond) [millisecond, time] = [now, new Date(now).toISOString()];
      append(`{"level":"info","time":"${time}"${base},${members},"msg":"${message}"}\n`);
    },
  };
}

/** The parts of a logger that pino offers under `pino.symbols`. */
function internalsOf(logger: Logger): Readonly<Record<symbol, unknown>> {
  return logger as unknown as Readonly<Record<symbol, unknown>>;
}
