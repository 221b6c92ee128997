import { locationOf } from './code-locations.ts';
import type { SourceFile } from './sources.ts';

/** Names of the tables that migrations make. */
export function tablesIn(sql: string): string[] {
  return [...sql.matchAll(/^create table (?:if not exists )?(\w+)/gim)].map(([, name = '']) => name);
}

/** Who knows a table: a context of an app, or a library. Rooms that look at everything on purpose know none. */
function roomOf(path: string): string | undefined {
  const place = locationOf(path);
  if (place.area === 'app') return /^(cli|verify)$/.test(place.context ?? '') ? undefined : `${place.app}/${place.context ?? ''}`;
  return place.area === 'platform' || place.area === 'event-loader' ? place.area : undefined;
}

/** A table that a room may name although it is another's, and why. */
export interface Excuse {
  readonly table: string;
  readonly in: RegExp;
  readonly because: string;
}

/** Every room that names a table in SQL, or as an entity of the mapper, without an excuse. */
export function roomsByTable(
  tables: readonly string[],
  files: readonly Pick<SourceFile, 'path' | 'text'>[],
  excuses: readonly Excuse[] = [],
): Map<string, Set<string>> {
  const rooms = new Map(tables.map((table) => [table, new Set<string>()]));
  for (const { path, text } of files) {
    const room = roomOf(path);
    if (!room) continue;
    for (const table of tables) {
      const named = new RegExp(String.raw`\b(?:from|join|into|update|table|only)\s+"?${table}\b|tableName:\s*'${table}'`, 'i');
      const excused = excuses.some((excuse) => excuse.table === table && excuse.in.test(path));
      if (named.test(text) && !excused) rooms.get(table)?.add(room);
    }
  }
  return rooms;
}

/** Tables that more than one room names, or none. */
export function ownershipFaults(rooms: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...rooms].flatMap(([table, known]) => {
    if (known.size === 0) return [`${table} is used by nobody`];
    return known.size === 1 ? [] : [`${table} is used by ${[...known].sort().join(' and ')}`];
  });
}
