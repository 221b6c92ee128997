import { encode } from 'uqr';
import { MODULE_SIZE_PIXELS, QUIET_ZONE_MODULES, ticketQr } from './ticket-qr.ts';

const code = `TRB1.${'aB3-_'.repeat(11)}.${'Zz09x'.repeat(17)}Q`;
const svg = ticketQr(code);
const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);

/** The dark squares in the SVG, as coordinates in modules of the QR code. */
const darkModules = new Set(
  [...svg.matchAll(/M(\d+),(\d+)h8v8h-8z/g)].map(
    ([, x, y]) => `${Number(x) / MODULE_SIZE_PIXELS},${Number(y) / MODULE_SIZE_PIXELS}`,
  ),
);

test('ticketQr: exactly the dark modules of the QR code are drawn', () => {
  const { data } = encode(code, { ecc: 'M', border: 0, maskPattern: 2 });
  const expected = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`${x + QUIET_ZONE_MODULES},${y + QUIET_ZONE_MODULES}`] : [])),
  );
  expect([...darkModules].sort()).toEqual(expected.sort());
  expect(size).toBe((data.length + 2 * QUIET_ZONE_MODULES) * MODULE_SIZE_PIXELS);
});

test('ticketQr: the code is at most 49 modules wide and has a light border of four modules', () => {
  expect(size / MODULE_SIZE_PIXELS).toBeLessThanOrEqual(49 + 2 * QUIET_ZONE_MODULES);
  const coordinates = [...darkModules].flatMap((square) => square.split(',').map(Number));
  expect(Math.min(...coordinates)).toBe(QUIET_ZONE_MODULES);
  expect(Math.max(...coordinates)).toBe(size / MODULE_SIZE_PIXELS - QUIET_ZONE_MODULES - 1);
});

test('ticketQr: the SVG is black on white and has no scripts, styles or links', () => {
  expect(svg).toMatch(/<rect fill="#fff"/);
  expect(svg).toMatch(/<path fill="#000"/);
  expect(svg).not.toMatch(/<script|href|<style|url\(/);
});
