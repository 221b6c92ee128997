import { open, stat, type FileHandle } from 'node:fs/promises';
import { EventFetchError, type BadEvent, type Source } from '../core/event.ts';
import { EventFetcher, type Fetched } from '../core/ports.ts';
import { parseExactly, textOfLongNumber } from './exact-json.ts';
import { badEvent, readEvents, type Candidate } from '../core/reading-events.ts';

export interface FileSource extends Source {
  readonly kind: 'file';
  readonly path: string;
}

/** A line longer than this is no event; what is read at once is bounded by it, too. */
const LINE_LIMIT = 2 * 1024 * 1024;
const CHUNK = 256 * 1024;

interface Place {
  readonly afterId: string | undefined;
  readonly inode: number;
  readonly offset: number;
}

/** NDJSON: a line `{"id", "payload"}` an event, appended at the end. A line without its end is still being written. */
export class FileEventFetcher extends EventFetcher<FileSource> {
  /** Where the last fetch ended, so that a long file is not read from its beginning each time. */
  private readonly places = new Map<string, Place>();

  async fetch(source: FileSource, afterId: string | undefined, limit: number): Promise<Fetched> {
    // A pipe without a writer would be waited for while it is opened, and a device never ends.
    const kind = await stat(source.path).catch(() => undefined);
    if (kind && !kind.isFile()) throw new EventFetchError('SOURCE_FAILED', `${source.path}: it is not a file`);
    const file = await open(source.path, 'r').catch((cause: NodeJS.ErrnoException) => {
      throw new EventFetchError('SOURCE_UNREACHABLE', `${source.path}: ${cause.code ?? cause.message}`, { cause });
    });
    try {
      return await this.read(file, source, afterId, limit);
    } catch (cause) {
      if (cause instanceof EventFetchError) throw cause;
      throw new EventFetchError('SOURCE_FAILED', `${source.path}: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`, {
        cause,
      });
    } finally {
      await file.close();
    }
  }

  private async read(file: FileHandle, source: FileSource, afterId: string | undefined, limit: number): Promise<Fetched> {
    const { ino: inode, size } = await file.stat();
    const known = this.places.get(source.name);
    // Another loader may have brought the cursor further: what is behind our own place is enough all the same.
    const isBehind =
      known !== undefined && (known.afterId === afterId || (known.afterId !== undefined && !isBeyond(known.afterId, afterId)));
    const goesOn = isBehind && known.inode === inode && known.offset <= size;
    let offset = goesOn ? known.offset : 0;
    const candidates: Candidate[] = [];
    const unreadable: BadEvent[] = [];
    for await (const line of linesFrom(file, offset)) {
      offset = line.end;
      const entry = parsed(line.text);
      if (entry !== undefined && isBeyond(entry.id, afterId)) candidates.push(entry);
      else if (entry === undefined && unreadable.length < limit)
        unreadable.push(badEvent(undefined, 'the line is not JSON', line.text));
      if (candidates.length === limit) break;
    }
    const { events, bad, ...rest } = readEvents(candidates, source.ids);
    const last = events.at(-1)?.id;
    // Only where the cursor will stand at the end of what was read, or stays, is there a place to go on from: junk is met once.
    if (source.overlap === 0 && (last !== undefined || candidates.length === 0))
      this.places.set(source.name, { afterId: last ?? afterId, inode, offset });
    return { events, bad: [...bad, ...unreadable], ...rest };
  }
}

function parsed(text: string): Candidate | undefined {
  try {
    const { id, payload } = parseExactly(text) as { id?: unknown; payload?: unknown };
    return { id: textOfLongNumber(id), payload };
  } catch {
    return undefined;
  }
}

/** An id that is none is passed on, for whoever reads events to refuse. */
function isBeyond(id: unknown, afterId: string | undefined): boolean {
  if (afterId === undefined) return true;
  const text = String(id);
  return !/^[1-9]\d{0,18}$/.test(text) || text.length > afterId.length || (text.length === afterId.length && text > afterId);
}

async function* linesFrom(file: FileHandle, from: number): AsyncGenerator<{ text: string; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  const chunk = Buffer.alloc(CHUNK);
  for (let position = from; ;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    let bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) {
      end += at + 1;
      const text = bytes.toString('utf8', 0, at).trim();
      bytes = bytes.subarray(at + 1);
      if (text !== '') yield { text, end };
    }
    if (bytes.length > LINE_LIMIT) throw new EventFetchError('SOURCE_TOO_LARGE', `a line of more than ${LINE_LIMIT} bytes`);
    rest = Buffer.from(bytes);
  }
}
