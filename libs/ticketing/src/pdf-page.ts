import { deflateSync } from 'node:zlib';
import { fontDifferences, encodeText, textWidth, type FontWeight } from './helvetica.ts';

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

  rectangles(rectangles: readonly (Point & { width: number; height: number })[]): void {
    const paths = rectangles.map(
      ({ x, y, width, height }) =>
        `${formatNumber(x)} ${formatNumber(this.height - y - height)} ${formatNumber(width)} ${formatNumber(height)} re`,
    );
    this.commands.push(`0 g ${paths.join(' ')} f`);
  }

  render(): Buffer {
    const content = deflateSync(this.commands.join('\n'));
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

/** With at most three decimals. `toFixed` takes twice as long, and a QR code has 2,800 numbers. */
const formatNumber = (value: number): string => String(Math.round(value * 1000) / 1000);

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
