import type { Transaction } from '#application/transaction-manager';
import type { ExportedItem, ExportedList } from '#contracts/fan-export';

/** The fan who asks for an export, or to be erased. */
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

/** By what the retention job finds the data of an erased fan that are not stored under the fan's id. */
export interface TracesOfFan {
  /** Addresses of the fan; an eraser returns those that the fan has used. */
  readonly emails: readonly string[];
  /** Ids of the fan's orders, payments and tickets. */
  readonly ids: readonly string[];
  readonly pushTokens: readonly string[];
  /** For each ticket the part of its code that has the ticket's id. */
  readonly codeParts: readonly string[];
}

/** How a context erases what its tables have about a fan. */
export interface FanEraser {
  /** Why the fan may not be erased yet, as a sentence for the fan. Undefined if nothing is in the way. */
  hindrance?(tx: Transaction, userId: string): Promise<string | undefined>;
  /** Ends what the fan has under way. Safe to repeat. */
  end?(fan: AskingFan): Promise<void>;
  /** Erases, and returns by what the rest is found. */
  erase?(tx: Transaction, userId: string): Promise<Partial<TracesOfFan>>;
}

/** Collects the erasers of all contexts. Each context adds one for its own tables. */
export class ErasableWithFans {
  private readonly added: FanEraser[] = [];

  add(eraser: FanEraser): void {
    this.added.push(eraser);
  }

  get all(): readonly FanEraser[] {
    return this.added;
  }
}
