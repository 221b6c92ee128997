import { deflateSync } from 'node:zlib';
import { fontDifferences, encodeText, textWidth, type FontWeight } from './helvetica.ts';

/** Level 6, the default, takes twice as long and saves a tenth. */
const DEFLATE_LEVEL = 1;

/** A position on the page. */
interface Point {
  /** In points from the left (`x`) and the top (`y`) edge of the page. For text it is the start of the baseline. */
  readonly x: number;
  readonly y: number;
}

/**
 * A PDF 1.4 file with one page of text and filled rectangles. A ticket needs no more, so there is no PDF library, and a file has
 * a few kilobytes.
 */
export class PdfPage {
  private readonly commands: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly title: string,
  ) {}

  /** Draws a line of text. If it is wider than `maxWidth`, the font size is reduced until it fits. */
  text(text: string, { x, y }: Point, style: { size: number; weight?: FontWeight; gray?: number; maxWidth?: number }): void {
    const { weight = 'regular', gray = 0, maxWidth = this.width - 2 * x } = style;
    const size = Math.min(style.size, (style.size * maxWidth) / Math.max(1, textWidth(text, style.size, weight)));
    const font = weight === 'bold' ? 'F2' : 'F1';
    const codes = encodeText(text).map((code) => code.toString(16).padStart(2, '0'));
    this.commands.push(
      `BT ${gray} g /${font} ${formatNumber(size)} Tf ${formatNumber(x)} ${formatNumber(this.height - y)} Td <${codes.join('')}> Tj ET`,
    );
  }

  rectangle({ x, y, width, height }: Point & { width: number; height: number }): void {
    const numbers = [x, this.height - y - height, width, height].map(formatNumber);
    this.commands.push(`0 g ${numbers.join(' ')} re f`);
  }

  /**
   * Draws the squares that are true, in rows from the top. Adjacent squares of a row are one rectangle, because cheap scanners fail on
   * thin gaps between the squares of a QR code. The unit of length is a square: whole numbers are a third as long as points.
   */
  squares(rows: readonly (readonly boolean[])[], { x, y }: Point, size: number): void {
    const [unit, left, top] = [size, x, this.height - y].map(formatNumber);
    let paths = '';
    rows.forEach((row, line) => {
      for (const [start, length] of runs(row)) paths += `${start} ${line} ${length} 1 re\n`;
    });
    this.commands.push(`0 g q ${unit} 0 0 -${unit} ${left} ${top} cm\n${paths}f Q`);
  }

  render(): Buffer {
    const content = deflateSync(this.commands.join('\n'), { level: DEFLATE_LEVEL });
    const font = (name: string): string =>
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [${fontDifferences}] >> >>`;
    return serialize([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${formatNumber(this.width)} ${formatNumber(this.height)}] /Contents 4 0 R ` +
        '/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>',
      [`<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`, content, '\nendstream'],
      font('Helvetica'),
      font('Helvetica-Bold'),
      `<< /Title <feff${Buffer.from(this.title, 'utf16le').swap16().toString('hex')}> /Producer (Tribina) >>`,
    ]);
  }
}

/** With at most four decimals. */
const formatNumber = (value: number): string => String(Math.round(value * 10_000) / 10_000);

/** Finds the runs of adjacent true values. */
function runs(row: readonly boolean[]): [start: number, length: number][] {
  const found: [number, number][] = [];
  for (let start = 0; start < row.length; start += 1) {
    if (!row[start]) continue;
    let end = start + 1;
    while (row[end]) end += 1;
    found.push([start, end - start]);
    start = end;
  }
  return found;
}

type PdfObject = string | readonly (string | Buffer)[];

/** Writes the PDF objects, the cross-reference table with the byte offset of each object, and the trailer. */
function serialize(objects: readonly PdfObject[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  const length = (): number => parts.reduce((sum, part) => sum + part.length, 0);
  objects.forEach((object, index) => {
    offsets.push(length());
    const body = typeof object === 'string' ? [object] : object;
    for (const piece of [`${index + 1} 0 obj\n`, ...body, '\nendobj\n'])
      parts.push(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${length()}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`, 'latin1')]);
}
