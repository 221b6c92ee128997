import { applyAvailabilityMessage, readAvailability } from './availability.ts';

const known = new Map([
  ['east', 5],
  ['west', 9],
]);
const numbers = (availability: ReadonlyMap<string, number>) => Object.fromEntries(availability);

test('a diff message changes the sectors that it names; a snapshot message replaces all sectors', () => {
  const sectors = [{ id: 'east', available: 0 }];
  expect(numbers(applyAvailabilityMessage(known, { type: 'diff', version: 1, sectors }))).toEqual({ east: 0, west: 9 });
  expect(numbers(applyAvailabilityMessage(known, { type: 'snapshot', version: 1, sectors }))).toEqual({ east: 0 });
  expect(numbers(known)).toEqual({ east: 5, west: 9 });
});

test('readAvailability returns a valid message, and undefined for an unknown type or invalid JSON', () => {
  const message = { type: 'diff', sectors: [{ id: 'east', available: 0 }] };
  expect(readAvailability(JSON.stringify(message))).toEqual(message);
  expect(['{', '{"type":"weather","sectors":[]}', '{"type":"diff"}'].map(readAvailability)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
