/*
 * Encodes arrays in PostgreSQL's binary format, for statements that take hundreds of rows as a dozen array parameters. When the
 * arrays were sent as text, the server spent a tenth of the statement's time on parsing them, and it scans a text[] from the
 * start for every element that it reads. The driver sends a parameter in binary if its value is a Buffer.
 *
 * Layout of an array, big-endian: number of dimensions, NULL flag, element type (OID), number of elements, index of the first
 * element; then for each element its length and its bytes.
 */
const BOOL = 16;
const INT4 = 23;
const TID = 27;
const UUID = 2950;
const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;

/** Value of each hexadecimal digit, by character code. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0);

/** Encodes an `int4[]`. */
export function int4Array(values: readonly number[]): Buffer {
  return arrayOf(INT4, 4, values, putInt4);
}

/** Encodes a `bool[]`. */
export function boolArray(values: readonly boolean[]): Buffer {
  return arrayOf(BOOL, 1, values, (to, at, value) => {
    to[at] = Number(value);
  });
}

/** Encodes a `uuid[]`. `values` are UUIDs in text form, 36 characters. */
export function uuidArray(values: readonly string[]): Buffer {
  return arrayOf(UUID, 16, values, (to, at, value) => {
    if (value.length !== 36) throw new Error(`${value} is not a UUID`);
    putHex(to, at, value, 0, 4);
    putHex(to, at + 4, value, 9, 2);
    putHex(to, at + 6, value, 14, 2);
    putHex(to, at + 8, value, 19, 2);
    putHex(to, at + 10, value, 24, 6);
  });
}

/** Encodes a `tid[]`. `values` are ctids (where PostgreSQL keeps a row) in text form, `(block,offset)`. */
export function ctidArray(values: readonly string[]): Buffer {
  return arrayOf(TID, 6, values, (to, at, value) => {
    const comma = value.indexOf(',');
    putInt4(to, at, Number(value.slice(1, comma)));
    const offset = Number(value.slice(comma + 1, -1));
    to[at + 4] = offset >>> 8;
    to[at + 5] = offset;
  });
}

/**
 * Joins values of `width` bytes, given as hexadecimal digits, into one `bytea`. PostgreSQL can read one of them by its position
 * (`substring`) without a scan.
 */
export function hexBytes(values: readonly string[], width: number): Buffer {
  const to = Buffer.allocUnsafe(values.length * width);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (value.length !== 2 * width) throw new Error(`${value} is not ${width} bytes in hexadecimal digits`);
    putHex(to, index * width, value, 0, width);
  }
  return to;
}

function arrayOf<T>(type: number, width: number, values: readonly T[], put: (to: Buffer, at: number, value: T) => void): Buffer {
  const headBytes = values.length > 0 ? HEAD_BYTES : HEAD_BYTES - 8;
  const to = Buffer.allocUnsafe(headBytes + values.length * (LENGTH_BYTES + width));
  putInt4(to, 0, values.length > 0 ? 1 : 0);
  putInt4(to, 4, 0);
  putInt4(to, 8, type);
  if (values.length === 0) return to;
  putInt4(to, 12, values.length);
  putInt4(to, 16, 1);
  let at = HEAD_BYTES;
  for (let index = 0; index < values.length; index += 1) {
    putInt4(to, at, width);
    put(to, at + LENGTH_BYTES, values[index]!);
    at += LENGTH_BYTES + width;
  }
  return to;
}

function putInt4(to: Buffer, at: number, value: number): void {
  to[at] = value >>> 24;
  to[at + 1] = value >>> 16;
  to[at + 2] = value >>> 8;
  to[at + 3] = value;
}

/** Writes hexadecimal digits as bytes, digit by digit: one call of `Buffer.write` costs as much as 16 calls of this function. */
function putHex(to: Buffer, at: number, digits: string, from: number, bytes: number): void {
  for (let index = 0; index < bytes; index += 1) {
    const digit = from + 2 * index;
    to[at + index] = (DIGIT_VALUES[digits.charCodeAt(digit)]! << 4) | DIGIT_VALUES[digits.charCodeAt(digit + 1)]!;
  }
}
