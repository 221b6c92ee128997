import { crc32, inflateSync } from 'node:zlib';

// Reads a QR code from a PNG, as the scanner at a gate does, by the rules of ISO/IEC 18004 and not with the library that draws the
// codes. It does not correct errors: an image of ours has none.

/** Error correction words of each block, and the number of blocks, of the versions 1 to 10, by the level in the format bits. */
const LEVELS = [
  { name: 'M', words: [10, 16, 26, 18, 24, 16, 18, 22, 22, 26], blocks: [1, 1, 1, 2, 2, 4, 4, 4, 5, 5] },
  { name: 'L', words: [7, 10, 15, 20, 26, 18, 20, 24, 30, 18], blocks: [1, 1, 1, 1, 1, 2, 2, 2, 2, 4] },
  { name: 'H', words: [17, 28, 22, 16, 22, 28, 26, 26, 24, 28], blocks: [1, 1, 2, 4, 4, 4, 5, 6, 8, 8] },
  { name: 'Q', words: [13, 22, 18, 26, 18, 24, 18, 22, 20, 24], blocks: [1, 1, 2, 2, 4, 4, 6, 6, 8, 8] },
];
const FORMAT_MASK = 0x5412;
const BYTE_MODE = 4;
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** An image: true is a dark pixel. */
type Pixels = readonly (readonly boolean[])[];

/** A QR code as a scanner sees it. */
export interface ScannedQr {
  readonly text: string;
  readonly level: string;
  /** Width of the image and of one module (square of the code) in pixels, and of the light border in modules. */
  readonly widthPixels: number;
  readonly modulePixels: number;
  readonly borderModules: number;
}

/** Reads the QR code in a black-and-white PNG. Throws if the file or the code is invalid. */
export function scanQr(png: Buffer): ScannedQr {
  const pixels = pixelsOf(png);
  const top = pixels.findIndex((line) => line.includes(true));
  const left = pixels[top]?.indexOf(true) ?? -1;
  const finderWidth = (pixels[top]?.indexOf(false, left) ?? 0) - left;
  // The finder pattern in the corner is seven modules wide.
  const modulePixels = finderWidth / 7;
  const size = (pixels.length - 2 * top) / modulePixels;
  if (top < 1 || left !== top || !Number.isInteger(modulePixels) || (size - 17) % 4 !== 0) throw new Error('not a QR code');
  const center = (n: number): number => top + Math.floor((n + 0.5) * modulePixels);
  const isDark = (x: number, y: number): boolean => pixels[center(y)]?.[center(x)] ?? false;
  const { level, text } = decode(isDark, size);
  return { text, level, widthPixels: pixels.length, modulePixels, borderModules: top / modulePixels };
}

/** Decodes a square PNG of one bit a pixel, grayscale, with the line filters None and Up. */
function pixelsOf(png: Buffer): Pixels {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const typed = png.subarray(at + 4, at + 8 + length);
    if (crc32(typed) !== png.readUInt32BE(at + 8 + length)) throw new Error('wrong checksum');
    chunks.set(typed.toString('latin1', 0, 4), typed.subarray(4));
    at += 12 + length;
  }
  const [header, data] = [chunks.get('IHDR'), chunks.get('IDAT')];
  const isPng = png.toString('hex', 0, 8) === '89504e470d0a1a0a' && header && data && chunks.has('IEND');
  if (!isPng || header.toString('hex', 8) !== '0100000000') throw new Error('not a PNG of one bit a pixel');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bytes, lineLength] = [inflateSync(data), 1 + Math.ceil(width / 8)];
  if (width !== height || bytes.length !== height * lineLength) throw new Error('wrong size');
  const lines: Buffer[] = [];
  for (let y = 0; y < height; y += 1) {
    const [filter, ...line] = bytes.subarray(y * lineLength, (y + 1) * lineLength);
    if (filter !== 0 && filter !== 2) throw new Error('unknown filter');
    lines.push(Buffer.from(filter === 0 ? line : line.map((byte, x) => byte + (lines[y - 1]?.[x] ?? 0))));
  }
  return lines.map((line) => Array.from({ length: width }, (_, x) => (((line[x >> 3] ?? 0) >> (7 - (x % 8))) & 1) === 0));
}

function decode(isDark: (x: number, y: number) => boolean, size: number): { text: string; level: string } {
  const version = (size - 17) / 4;
  // The 15 format bits around the finder pattern in the top left corner, the lowest first.
  const formatPlaces = [...Array(6).keys()].map((y) => [8, y]).concat([[8, 7], [8, 8], [7, 8]], [5, 4, 3, 2, 1, 0].map((x) => [x, 8])); // prettier-ignore
  const format = formatPlaces.reduce((bits, [x = 0, y = 0], n) => bits | (Number(isDark(x, y)) << n), 0) ^ FORMAT_MASK;
  const [level, isMasked] = [LEVELS[format >> 13], MASKS[(format >> 10) & 7]];
  const [errorWords, blockCount] = [level?.words[version - 1], level?.blocks[version - 1]];
  if (!level || !isMasked || errorWords === undefined || blockCount === undefined) throw new Error('unknown version');

  const bits: number[] = [];
  for (let right = size - 1; right >= 1; right -= 2) {
    // Column 6 has the timing pattern.
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let n = 0; n < size; n += 1) {
      const y = isUpward ? size - 1 - n : n;
      for (const x of [right, right - 1]) if (!isFunctionModule(x, y, size)) bits.push(Number(isDark(x, y) !== isMasked(x, y)));
    }
  }
  const words = Array.from({ length: Math.floor(bits.length / 8) }, (_, n) => parseInt(bits.slice(n * 8, n * 8 + 8).join(''), 2));

  // The words of all blocks are interleaved. The last blocks may be one word longer.
  const shortBlocks = blockCount - (words.length % blockCount);
  const shortLength = Math.floor(words.length / blockCount) - errorWords;
  const blocks = Array.from({ length: blockCount }, (): number[] => []);
  let next = 0;
  for (let n = 0; n <= shortLength; n += 1)
    for (const [index, block] of blocks.entries()) if (n < shortLength || index >= shortBlocks) block.push(words[next++] ?? 0);
  const stream = blocks
    .flat()
    .map((word) => word.toString(2).padStart(8, '0'))
    .join('');
  if (parseInt(stream.slice(0, 4), 2) !== BYTE_MODE) throw new Error('not in byte mode');
  const start = version < 10 ? 12 : 20;
  const length = parseInt(stream.slice(4, start), 2);
  const text = Array.from({ length }, (_, n) => parseInt(stream.slice(start + n * 8, start + n * 8 + 8), 2));
  return { text: Buffer.from(text).toString('utf8'), level: level.name };
}

/** Whether a module belongs to a pattern or to the format, and not to the text. */
function isFunctionModule(x: number, y: number, size: number): boolean {
  const version = (size - 17) / 4;
  const far = size - 8;
  if (x === 6 || y === 6 || (x < 9 && y < 9) || (x >= far && y < 9) || (x < 9 && y >= far)) return true;
  if (version >= 7 && ((x < 6 && y >= size - 11) || (y < 6 && x >= size - 11))) return true;
  const near = (n: number): number | undefined => alignmentCenters(version).find((center) => Math.abs(center - n) <= 2);
  const [centerX, centerY] = [near(x), near(y)];
  if (centerX === undefined || centerY === undefined) return false;
  const isInCorner = [centerX, centerY].every((center) => center === 6 || center === size - 7);
  return !isInCorner || (centerX === size - 7 && centerY === size - 7);
}

function alignmentCenters(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, n) => version * 4 + 10 - n * step)];
}
