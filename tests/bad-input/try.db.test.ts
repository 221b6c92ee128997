import { openSystem } from './system.ts';
test('x', async () => {
  const t = Date.now();
  const s = await openSystem();
  console.log(Date.now() - t, s.at, s.monolith.routes.map(r => `${r.method} ${r.url} ${r.rules?.access}`).join('\n'), s.queue.routes.map(r => `${r.method} ${r.url} ${r.rules?.access}`).join('\n'));
  const a = Date.now(); console.log(await s.snapshot(), Date.now() - a);
  await s.close();
});
