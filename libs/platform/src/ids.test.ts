import { newId } from './ids.ts';

test('newId: 5000 ids made in one millisecond are 5000 different UUIDs of version 7 that begin with the time', () => {
  const ids = Array.from({ length: 5000 }, () => newId(0x0123456789ab));
  for (const id of ids) expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(5000);
});
