import { crc32, deflateSync } from 'node:zlib';
import { qrModules, QUIET_ZONE_MODULES } from './ticket-qr.ts';

/** Minimum width of the image. Mail programs show it smaller, and screens of phones need the pixels. */
const MIN_PIXELS = 300;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The last five bytes of the header: 1 bit a pixel, grayscale, deflate, standard filters, not interlaced. */
const ONE_BIT_GRAYSCALE = [1, 0, 0, 0, 0];
/** Filters of a PNG line: the pixels themselves, or their difference from the line above. */
const [PIXELS, DIFFERENCE_FROM_ABOVE] = [0, 2];
/** Level 5 takes four times as long and saves 300 of 1,200 bytes. */
const DEFLATE_LEVEL = 1;
const [BLACK, WHITE] = [0x00, 0xff];

/**
 * Returns the QR code of a ticket as PNG, black on white, with the same modules (squares) as `ticketQr`. Mails need it, because most
 * mail programs do not show SVG. A module is 8 or 16 pixels wide, so a byte (8 pixels of 1 bit) never contains two modules. The lines
 * below the first one of a module repeat it: their differences are zeros, which deflate compresses to almost nothing.
 */
export function ticketQrPng(code: string): Buffer {
  const modules = qrModules(code);
  const size = modules.length + 2 * QUIET_ZONE_MODULES;
  const bytesPerModule = Math.ceil(MIN_PIXELS / (8 * size));
  const [linesPerModule, lineLength] = [bytesPerModule * 8, 1 + size * bytesPerModule];
  const pixels = size * linesPerModule;
  const lines = Buffer.alloc(pixels * lineLength);
  for (let y = 0; y < size; y += 1) {
    const start = y * linesPerModule * lineLength;
    lines[start] = PIXELS;
    lines.fill(WHITE, start + 1, start + lineLength);
    const row = modules[y - QUIET_ZONE_MODULES] ?? [];
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const at = start + 1 + (x + QUIET_ZONE_MODULES) * bytesPerModule;
      for (let byte = 0; byte < bytesPerModule; byte += 1) lines[at + byte] = BLACK;
    }
    for (let line = 1; line < linesPerModule; line += 1) lines[start + line * lineLength] = DIFFERENCE_FROM_ABOVE;
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
