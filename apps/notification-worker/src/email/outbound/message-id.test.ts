import { messageIdHeader } from './message-id.ts';

const id = '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81';

test.each([
  ['HNS tickets <tickets@hns.hr>', `<${id}@hns.hr>`],
  ['tickets@mail.hns.hr', `<${id}@mail.hns.hr>`],
  ['"Klub @ Split" <ulaznice@šport.hr>', `<${id}@xn--port-f6a.hr>`],
])('messageIdHeader: of a mail from %s it is %s, also when it is sent again', (from, expected) => {
  expect([messageIdHeader(id, from), messageIdHeader(id, from)]).toEqual([expected, expected]);
});

test.each(['', 'a b', 'x>\r\nBcc: eve@example.com', '.a', 'a..b', 'ključ', 'x'.repeat(65)])(
  'messageIdHeader: the message id %j does not fit into the header and is hashed; another id has another hash',
  (messageId) => {
    const header = messageIdHeader(messageId, 'a@hns.hr');
    expect(header).toMatch(/^<[0-9a-f]{64}@hns\.hr>$/);
    expect(header).not.toBe(messageIdHeader(`${messageId}!`, 'a@hns.hr'));
  },
);
