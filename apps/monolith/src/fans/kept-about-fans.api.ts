import type { ExportedItem, ExportedList } from '#contracts/fan-export';

/** The fan who asks for an export. */
export interface AskingFan {
  readonly userId: string;
  /** The address of which the identity provider says that it is the fan's. */
  readonly verifiedEmail?: string;
}

/** Reads a list about the fan, page by page, so that no list is in memory as a whole. */
export type PagesAbout<List extends ExportedList> = (fan: AskingFan) => AsyncIterable<readonly ExportedItem<List>[]>;

/** Rows of one page. */
const PAGE_SIZE = 100;

/** The lists that contexts keep about a fan. Each context adds those of its own tables. */
export class KeptAboutFans {
  private readonly lists = new Map<ExportedList, PagesAbout<ExportedList>>();

  add<List extends ExportedList>(list: List, pages: PagesAbout<List>): void {
    if (this.lists.has(list)) throw new Error(`two contexts keep ${list} of fans`);
    this.lists.set(list, pages);
  }

  pagesOf(list: ExportedList, fan: AskingFan): ReturnType<PagesAbout<ExportedList>> {
    const pages = this.lists.get(list);
    if (!pages) throw new Error(`no context keeps ${list} of fans`);
    return pages(fan);
  }
}

/** Reads a list in pages. `read` returns rows in the order of the list, from the one after the row with the id `after`. */
export async function* inPages<Row extends { readonly id: string }, Item>(
  read: (after: string | undefined, limit: number) => Promise<readonly Row[]>,
  view: (rows: readonly Row[]) => readonly Item[] | Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  for (let after: string | undefined; ;) {
    const rows = await read(after, PAGE_SIZE);
    if (rows.length > 0) yield await view(rows);
    if (rows.length < PAGE_SIZE) return;
    after = rows.at(-1)?.id;
  }
}
