import { crc32, deflateSync } from 'node:zlib';
import { qrModules } from './ticket-qr.ts';

/** Minimum width of the image. Mail programs show it smaller, and screens of phones need the pixels. */
const MIN_PIXELS = 300;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The last five bytes of the header: 1 bit a pixel, grayscale, deflate, standard filters, not interlaced. */
const ONE_BIT_GRAYSCALE = [1, 0, 0, 0, 0];
/** Filters of a PNG line: the pixels themselves, or their difference from the line above. */
const [PIXELS, DIFFERENCE_FROM_ABOVE] = [0, 2];
/** From level 6 on deflate takes four times as long and saves a tenth. */
const DEFLATE_LEVEL = 5;
const [BLACK, WHITE] = [0x00, 0xff];

/**
 * Returns the QR code of a ticket as PNG, black on white, with the same modules (squares) as `ticketQr`. Mails need it, because most
 * mail programs do not show SVG. A module is 8 or 16 pixels wide, so a byte (8 pixels of 1 bit) never contains two modules. The lines
 * below the first one of a module repeat it: their differences are zeros, which deflate compresses to almost nothing.
 */
export function ticketQrPng(code: string): Buffer {
  const modules = qrModules(code);
  const size = modules.length;
  const bytesPerModule = Math.ceil(MIN_PIXELS / (8 * size));
  const pixels = size * bytesPerModule * 8;
  const lineLength = 1 + size * bytesPerModule;
  const lines = Buffer.alloc(pixels * lineLength);
  for (let y = 0; y < pixels; y += 1) {
    const isFirstOfModule = y % (bytesPerModule * 8) === 0;
    lines[y * lineLength] = isFirstOfModule ? PIXELS : DIFFERENCE_FROM_ABOVE;
    if (!isFirstOfModule) continue;
    modules[y / (bytesPerModule * 8)]?.forEach((isDark, x) => {
      const start = y * lineLength + 1 + x * bytesPerModule;
      lines.fill(isDark ? BLACK : WHITE, start, start + bytesPerModule);
    });
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels, 0);
  header.writeUInt32BE(pixels, 4);
  header.set(ONE_BIT_GRAYSCALE, 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level: DEFLATE_LEVEL })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A part of a PNG file: length, type, content and checksum. */
function chunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
