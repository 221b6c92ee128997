// A mail server in a process of its own, which costs little. It accepts every mail, keeps none, and counts them by template.
import net from 'node:net';
import type { ArrivedMails } from './mail-server.ts';

const HEADER_BYTES = 2000;
let [templates, messageIds, repeated]: [Record<string, number>, Set<string>, number] = [{}, new Set(), 0];

function count(message: string): void {
  const headers = message.slice(0, HEADER_BYTES);
  const [, id = ''] = /^Message-ID: (.*)$/im.exec(headers) ?? [];
  const [, template = 'unknown'] = /^X-Template: (.*)$/im.exec(headers) ?? [];
  if (messageIds.has(id)) repeated += 1;
  messageIds.add(id);
  templates[template] = (templates[template] ?? 0) + 1;
}

const server = net.createServer((socket) => {
  let [received, isMessage] = ['', false];
  const answer = (line: string): void => {
    if (isMessage) count(line);
    const isData = !isMessage && /^DATA/i.test(line);
    socket.write(isData ? '354 go on\r\n' : /^QUIT/i.test(line) ? '221 bye\r\n' : '250 ok\r\n');
    isMessage = isData;
  };
  socket.on('error', () => undefined).write('220 sink\r\n');
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
    for (;;) {
      const terminator = isMessage ? '\r\n.\r\n' : '\r\n';
      const end = received.indexOf(terminator);
      if (end < 0) return;
      const line = received.slice(0, end);
      received = received.slice(end + terminator.length);
      answer(line);
    }
  });
});

// Each message from the parent process asks for the mails since the one before.
process.on('message', () => {
  process.send?.({ templates, repeated } satisfies ArrivedMails);
  [templates, messageIds, repeated] = [{}, new Set(), 0];
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.(`smtp://127.0.0.1:${(server.address() as net.AddressInfo).port}`));
