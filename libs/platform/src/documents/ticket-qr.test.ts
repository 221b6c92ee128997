import { encode } from 'uqr';
import { MODULE_SIZE, QUIET_ZONE_MODULES, ticketQr } from './ticket-qr.ts';

const code = `TRB1.${'aB3-_'.repeat(11)}.${'Zz09x'.repeat(17)}Q`;
const svg = ticketQr(code);
const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);

/** The dark squares as they are drawn, back in modules. */
const dark = new Set(
  [...svg.matchAll(/M(\d+),(\d+)h8v8h-8z/g)].map(([, x, y]) => `${Number(x) / MODULE_SIZE},${Number(y) / MODULE_SIZE}`),
);

test('every module of the code is drawn, and nothing else', () => {
  const { data } = encode(code, { ecc: 'M', border: 0 });
  const expected = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`${x + QUIET_ZONE_MODULES},${y + QUIET_ZONE_MODULES}`] : [])),
  );
  expect([...dark].sort()).toEqual(expected.sort());
  expect(size).toBe((data.length + 2 * QUIET_ZONE_MODULES) * MODULE_SIZE);
});

test('a code fills at most 49 modules and has four light ones around it', () => {
  expect(size / MODULE_SIZE).toBeLessThanOrEqual(49 + 2 * QUIET_ZONE_MODULES);
  const coordinates = [...dark].flatMap((square) => square.split(',').map(Number));
  expect(Math.min(...coordinates)).toBe(QUIET_ZONE_MODULES);
  expect(Math.max(...coordinates)).toBe(size / MODULE_SIZE - QUIET_ZONE_MODULES - 1);
});

test('it is dark on white and carries nothing that runs or loads', () => {
  expect(svg).toMatch(/<rect fill="#fff"/);
  expect(svg).toMatch(/<path fill="#000"/);
  expect(svg).not.toMatch(/<script|href|<style|url\(/);
});
