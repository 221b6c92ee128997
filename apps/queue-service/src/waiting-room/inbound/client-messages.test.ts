import { readClientMessage } from './client-messages.ts';

const text = (value: string) => Buffer.from(value);

test.each([
  ['a heartbeat', text('{"type":"heartbeat"}'), 'heartbeat'],
  ['a heartbeat with a further member', text('{"type":"heartbeat","at":1}'), 'heartbeat'],
  ['an unknown type', text('{"type":"subscribe"}'), 'unknown'],
  ['no type', text('{}'), 'unknown'],
  ['a type that is not a string', text('{"type":["heartbeat"]}'), 'unknown'],
  ['a __proto__ member with type heartbeat', text('{"__proto__":{"type":"heartbeat"}}'), 'unknown'],
  ['a message of 4,096 bytes', text(`{"type":"${'x'.repeat(4096 - 11)}"}`), 'unknown'],
])('readClientMessage: %s is of kind %3$s', (_what, data, kind) => {
  expect(readClientMessage(data, false)).toEqual({ kind });
});

test.each([
  ['an empty message', text(''), 4502],
  ['incomplete JSON', text('{"type":'), 4502],
  ['a number', text('7'), 4502],
  ['null', text('null'), 4502],
  ['a list', text('[{"type":"heartbeat"}]'), 4502],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 4502],
  ['JSON of two thousand open brackets', text('['.repeat(2000)), 4502],
  ['a message of 4,097 bytes', text(' '.repeat(4097)), 4503],
])('readClientMessage: %s is refused with %3$i', (_what, data, code) => {
  expect(readClientMessage(data, false)).toEqual({ kind: 'refused', code });
});

test('readClientMessage: a binary message is refused, even when it contains JSON', () => {
  expect(readClientMessage(text('{"type":"heartbeat"}'), true)).toEqual({ kind: 'refused', code: 4502 });
});
