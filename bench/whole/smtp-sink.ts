// A mail server in a process of its own that accepts every mail and keeps none.
import { FakeSmtpServer } from '../../apps/notification-worker/src/testing/fake-smtp-server.ts';

const server = await FakeSmtpServer.start();
setInterval(() => (server.arrived.length = 0), 100);
process.on('disconnect', () => process.exit());
process.send?.(server.url);
