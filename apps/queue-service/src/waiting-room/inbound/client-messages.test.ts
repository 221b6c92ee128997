import { readClientMessage } from './client-messages.ts';

const text = (value: string) => Buffer.from(value);

test.each([
  ['a heartbeat', text('{"type":"heartbeat"}'), 'heartbeat'],
  ['a heartbeat with more in it', text('{"type":"heartbeat","at":1}'), 'heartbeat'],
  ['another type', text('{"type":"subscribe"}'), 'unknown'],
  ['no type', text('{}'), 'unknown'],
  ['a type that is no text', text('{"type":["heartbeat"]}'), 'unknown'],
  ['a prototype trick', text('{"__proto__":{"type":"heartbeat"}}'), 'unknown'],
  ['4,096 bytes', text(`{"type":"${'x'.repeat(4096 - 11)}"}`), 'unknown'],
])('%s is %3$s', (_what, data, kind) => {
  expect(readClientMessage(data, false)).toEqual({ kind });
});

test.each([
  ['nothing', text(''), 4502],
  ['half a message', text('{"type":'), 4502],
  ['a number', text('7'), 4502],
  ['null', text('null'), 4502],
  ['a list', text('[{"type":"heartbeat"}]'), 4502],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 4502],
  ['two thousand brackets', text('['.repeat(2000)), 4502],
  ['4,097 bytes', text(' '.repeat(4097)), 4503],
])('%s is refused with %3$i', (_what, data, code) => {
  expect(readClientMessage(data, false)).toEqual({ kind: 'refused', code });
});

test('a binary message is refused, even when it holds JSON', () => {
  expect(readClientMessage(text('{"type":"heartbeat"}'), true)).toEqual({ kind: 'refused', code: 4502 });
});
