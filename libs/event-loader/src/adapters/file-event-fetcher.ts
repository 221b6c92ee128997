import { open, stat, type FileHandle } from 'node:fs/promises';
import { EventFetchError, type BadEvent, type Source } from '../core/event.ts';
import { EventFetcher, type FetchResult } from '../core/ports.ts';
import { parseExactly, textOfLongNumber } from './exact-json.ts';
import { badEvent, readEvents, type UncheckedEntry } from '../core/reading-events.ts';

/** A source that is an NDJSON file on the disk of the loader. */
export interface FileSource extends Source {
  readonly kind: 'file';
  readonly path: string;
}

/** A longer line makes the fetch fail. So an unfinished line cannot fill the memory. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Where the last fetch ended: the last id, and the byte offset in the file with this inode. */
interface ReadPosition {
  readonly afterId: string | undefined;
  readonly inode: number;
  readonly offset: number;
}

/**
 * Reads NDJSON: each line is one event `{"id", "payload"}`, and new lines are appended at the end. A line without a line break is
 * not complete yet and is not read.
 */
export class FileEventFetcher extends EventFetcher<FileSource> {
  /** The end of the last fetch, by source, so that a long file is not read from its start each time. */
  private readonly positions = new Map<string, ReadPosition>();

  async fetch(source: FileSource, afterId: string | undefined, limit: number): Promise<FetchResult> {
    // Only regular files are opened: opening a pipe without a writer blocks, and a device has no end.
    const stats = await stat(source.path).catch(() => undefined);
    if (stats && !stats.isFile()) throw new EventFetchError('SOURCE_FAILED', `${source.path}: it is not a file`);
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

  private async read(file: FileHandle, source: FileSource, afterId: string | undefined, limit: number): Promise<FetchResult> {
    const { ino: inode, size } = await file.stat();
    const known = this.positions.get(source.name);
    // If another loader has moved the cursor further, the remembered position is still good, because it is before the new events.
    const isBeforeCursor =
      known !== undefined && (known.afterId === afterId || (known.afterId !== undefined && !isBeyond(known.afterId, afterId)));
    const canContinue = isBeforeCursor && known.inode === inode && known.offset <= size;
    let offset = canContinue ? known.offset : 0;
    const candidates: UncheckedEntry[] = [];
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
    // The position is kept only if the cursor will be at the last id that was read, or does not move. So each invalid line is
    // read only once.
    if (source.overlap === 0 && (last !== undefined || candidates.length === 0))
      this.positions.set(source.name, { afterId: last ?? afterId, inode, offset });
    return { events, bad: [...bad, ...unreadable], ...rest };
  }
}

function parsed(text: string): UncheckedEntry | undefined {
  try {
    const { id, payload } = parseExactly(text) as { id?: unknown; payload?: unknown };
    return { id: textOfLongNumber(id), payload };
  } catch {
    return undefined;
  }
}

/** True if `id` is greater than `afterId` or is not a valid id. `readEvents` refuses invalid ids later. */
function isBeyond(id: unknown, afterId: string | undefined): boolean {
  if (afterId === undefined) return true;
  const text = String(id);
  return !/^[1-9]\d{0,18}$/.test(text) || text.length > afterId.length || (text.length === afterId.length && text > afterId);
}

async function* linesFrom(file: FileHandle, from: number): AsyncGenerator<{ text: string; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let position = from; ;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    let bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) {
      end += at + 1;
      const text = bytes.toString('utf8', 0, at).trim();
      bytes = bytes.subarray(at + 1);
      if (text !== '') yield { text, end };
    }
    if (bytes.length > MAX_LINE_BYTES)
      throw new EventFetchError('SOURCE_TOO_LARGE', `a line of more than ${MAX_LINE_BYTES} bytes`);
    rest = Buffer.from(bytes);
  }
}
