import { invitationFields, inviteRequest, MAX_INVITATIONS } from '#contracts/invitations';
import { CsvBody } from '#platform/http/csv-body';
import { z } from 'zod';
import { BrokenCsv, parseCsv } from './csv.ts';

const columns: readonly string[] = invitationFields;

/** Lists in CSV for the API description. */
export const csvLists = {
  description: `UTF-8, with \`,\` or \`;\` between the cells. The first line names the columns, in any order: ${columns
    .map((column) => `\`${column}\``)
    .join(', ')}. An empty cell is an absent field.`,
  example: 'email;name;quantity\nana@example.hr;Ana Anić;2\n',
};

/** The body of a list of invitations, in JSON or CSV, as the request in JSON. The values of the rows are not checked here. */
export const inviteBody = z.preprocess(
  (body, context) => (body instanceof CsvBody ? requestOf(body, context) : body),
  inviteRequest,
);

function requestOf({ text }: CsvBody, context: z.RefinementCtx): unknown {
  const refuse = (message: string): unknown => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  try {
    // One row too many is enough to refuse the list.
    const [header = [], ...records] = parseCsv(text, MAX_INVITATIONS + 2);
    const names = header.map((name) => name.trim().toLowerCase());
    const unknown = names.find((name) => !columns.includes(name));
    if (unknown !== undefined) return refuse(`has an unknown column: ${JSON.stringify(unknown.slice(0, 40))}`);
    if (new Set(names).size < names.length) return refuse('has a column twice');
    const missing = ['email', 'quantity'].find((name) => !names.includes(name));
    if (missing) return refuse(`has no column ${missing}`);
    const long = records.findIndex(({ length }) => length > names.length);
    if (long >= 0) return refuse(`has more cells than columns in row ${long + 1}`);
    return { invitations: records.map((cells) => rowOf(names, cells)) };
  } catch (error) {
    if (error instanceof BrokenCsv) return refuse(`is not CSV: ${error.message}`);
    throw error;
  }
}

function rowOf(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const fields = names.flatMap((name, index) => {
    const cell = cells[index];
    return cell ? [[name, valueOf(name, cell)] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** Cells are texts. A quantity that is no number stays a text, which is the fault of its row. */
const valueOf = (name: string, cell: string): unknown => (name === 'quantity' && /^\d{1,9}$/.test(cell) ? Number(cell) : cell);
