/** The first command of each key. A batch decides only these; repeated commands are decided one by one afterwards. */
export function firstOfEachKey<C>(commands: readonly C[], key: (command: C) => string): readonly C[] {
  const seen = new Set<string>();
  return commands.filter((command) => !seen.has(key(command)) && seen.add(key(command)));
}
