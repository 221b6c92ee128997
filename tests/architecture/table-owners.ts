import { locationOf } from './code-locations.ts';
import type { SourceFile } from './sources.ts';

/** Names of the tables that these migrations create. */
export function tablesIn(sql: string): string[] {
  return [...sql.matchAll(/^create table (?:if not exists )?(\w+)/gim)].map(([, name = '']) => name);
}

/** The context or library that a file belongs to. Undefined for `cli`, which may read every table and delete what is old. */
function moduleOf(path: string): string | undefined {
  const { area, app, context = '' } = locationOf(path);
  if (area === 'app') return /^(cli|verify)$/.test(context) ? undefined : `${app}/${context}`;
  return area === 'platform' || area === 'messaging' || area === 'event-loader' ? area : undefined;
}

/** An exception: the files that match `in` may use a table of another context, for the given reason. */
export interface Excuse {
  readonly table: string;
  readonly in: RegExp;
  readonly because: string;
}

/** For each table the contexts and libraries that name it, in SQL or in an entity schema, without an excuse. */
export function tableUsers(
  tables: readonly string[],
  files: readonly Pick<SourceFile, 'path' | 'text'>[],
  excuses: readonly Excuse[] = [],
): Map<string, Set<string>> {
  const users = new Map(tables.map((table) => [table, new Set<string>()]));
  for (const { path, text } of files) {
    const module = moduleOf(path);
    if (!module) continue;
    for (const table of tables) {
      const named = new RegExp(String.raw`\b(?:from|join|into|update|table|only)\s+"?${table}\b|tableName:\s*'${table}'`, 'i');
      const excused = excuses.some((excuse) => excuse.table === table && excuse.in.test(path));
      if (named.test(text) && !excused) users.get(table)?.add(module);
    }
  }
  return users;
}

/**
 * Faults in the ownership of tables: tables that no context or library uses, or that more than one uses. `ofCli`: tables that only the
 * retention job uses.
 */
export function ownershipFaults(users: ReadonlyMap<string, ReadonlySet<string>>, ofCli: readonly string[] = []): string[] {
  return [...users].flatMap(([table, modules]) => {
    if (ofCli.includes(table)) return modules.size === 0 ? [] : [`${table} is not of the retention job alone`];
    if (modules.size === 0) return [`${table} is used by no module`];
    return modules.size === 1 ? [] : [`${table} is used by ${[...modules].sort().join(' and ')}`];
  });
}
