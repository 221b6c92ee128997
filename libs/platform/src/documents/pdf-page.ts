import { deflateSync } from 'node:zlib';
import { differences, encoded, widthOf, type Weight } from './helvetica.ts';

interface Place {
  /** Points from the left edge and from the top; text stands on its baseline. */
  readonly x: number;
  readonly y: number;
}

/** One page with text and filled rectangles, as a PDF 1.4: what a ticket needs, in a few kilobytes and without a library. */
export class PdfPage {
  private readonly drawn: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly title: string,
  ) {}

  /** Shrinks rather than run out of the page. */
  text(text: string, { x, y }: Place, style: { size: number; weight?: Weight; gray?: number; maxWidth?: number }): void {
    const { weight = 'regular', gray = 0, maxWidth = this.width - 2 * x } = style;
    const size = Math.min(style.size, (style.size * maxWidth) / Math.max(1, widthOf(text, style.size, weight)));
    const font = weight === 'bold' ? 'F2' : 'F1';
    const codes = encoded(text).map((code) => code.toString(16).padStart(2, '0'));
    this.drawn.push(`BT ${gray} g /${font} ${point(size)} Tf ${point(x)} ${point(this.height - y)} Td <${codes.join('')}> Tj ET`);
  }

  rectangles(rectangles: readonly (Place & { width: number; height: number })[], gray = 0): void {
    const paths = rectangles.map(
      ({ x, y, width, height }) => `${point(x)} ${point(this.height - y - height)} ${point(width)} ${point(height)} re`,
    );
    this.drawn.push(`${gray} g ${paths.join(' ')} f`);
  }

  render(): Buffer {
    const content = deflateSync(this.drawn.join('\n'));
    const font = (name: string): string =>
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [${differences}] >> >>`;
    return written([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${point(this.width)} ${point(this.height)}] /Contents 4 0 R ` +
        '/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>',
      [`<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`, content, '\nendstream'],
      font('Helvetica'),
      font('Helvetica-Bold'),
      `<< /Title <feff${Buffer.from(this.title, 'utf16le').swap16().toString('hex')}> /Producer (Tribina) >>`,
    ]);
  }
}

const point = (value: number): string => String(Number(value.toFixed(3)));

type PdfObject = string | readonly (string | Buffer)[];

/** Objects one after the other, and the table that says at which byte each begins. */
function written(objects: readonly PdfObject[]): Buffer {
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
