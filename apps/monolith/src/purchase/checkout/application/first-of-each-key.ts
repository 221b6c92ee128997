/**
 * Keeps the first of the commands that have the same key, for example the same order. A batch decides only these commands; the
 * repeated ones are decided one by one afterwards.
 */
export function firstOfEachKey<C>(commands: readonly C[], key: (command: C) => string): readonly C[] {
  const seen = new Set<string>();
  return commands.filter((command) => !seen.has(key(command)) && seen.add(key(command)));
}
