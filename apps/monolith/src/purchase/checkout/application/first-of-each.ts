/** Of commands that mean the same thing only the first may be decided together with others. */
export function firstOfEach<C>(commands: readonly C[], key: (command: C) => string): readonly C[] {
  const seen = new Set<string>();
  return commands.filter((command) => !seen.has(key(command)) && seen.add(key(command)));
}
