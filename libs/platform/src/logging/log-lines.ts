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

/** Writes complete lines to the destination of `logger`, buffered if it can buffer. They bypass pino's redaction. */
export function lineAppender(logger: Logger): (line: string) => void {
  const destination = internalsOf(logger)[pino.symbols.streamSym] as DestinationStream & Partial<LineDestination>;
  return destination.append ?? ((line) => destination.write(line));
}

/** The beginning of each line of `logger` after level and time: `,"service":"monolith","pid":7`. */
export function lineBase(logger: Logger): string {
  return internalsOf(logger)[pino.symbols.chindingsSym] as string;
}

/** The parts of a logger that pino offers under `pino.symbols`. */
function internalsOf(logger: Logger): Readonly<Record<symbol, unknown>> {
  return logger as unknown as Readonly<Record<symbol, unknown>>;
}
