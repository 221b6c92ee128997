/** A Markdown table. Every page under docs/reference renders its tables with this function. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |\n`);
  return `| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}\n${lines.join('')}`;
}
