import { CoalescedRuns, type UpdateScope } from './coalesced-runs.ts';

/** Work for CoalescedRuns. Its pass number `i` ends when the test calls `ends[i].resolve` or `ends[i].reject`. */
function controlledWork() {
  const scopes: UpdateScope[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (scope: UpdateScope) => {
    scopes.push(scope);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { work, scopes, ends };
}

const settled = () => new Promise(setImmediate);

test('CoalescedRuns: a request for a key without a running pass starts a pass at once, with the scope of the request', async () => {
  const { work, scopes, ends } = controlledWork();
  const done = new CoalescedRuns().request('m', 'near', work);
  expect(scopes).toEqual(['near']);
  ends[0]!.resolve();
  await done;
  expect(scopes).toEqual(['near']);
});

test.each<[requested: UpdateScope[], next: UpdateScope]>([
  [['near'], 'near'],
  [['near', 'near'], 'near'],
  [['near', 'all', 'near'], 'all'],
  [['all', 'near', 'near'], 'all'],
])(
  'CoalescedRuns: requests with the scopes %j during a pass are merged into one more pass with scope %s, and wait for its end',
  async (requested, next) => {
    const { work, scopes, ends } = controlledWork();
    const runs = new CoalescedRuns();
    const first = runs.request('m', 'all', work);
    let ended = 0;
    const merged = requested.map((scope) => runs.request('m', scope, work).then(() => (ended += 1)));
    expect(scopes).toEqual(['all']);
    ends[0]!.resolve();
    await settled();
    expect(scopes).toEqual(['all', next]);
    expect(ended).toBe(0);
    ends[1]!.resolve();
    await Promise.all([first, ...merged]);
    expect(ended).toBe(requested.length);
    expect(scopes).toEqual(['all', next]);
  },
);

test('CoalescedRuns: a request during the second pass of a run leads to a third pass', async () => {
  const { work, scopes, ends } = controlledWork();
  const runs = new CoalescedRuns();
  const first = runs.request('m', 'all', work);
  void runs.request('m', 'near', work);
  ends[0]!.resolve();
  await settled();
  void runs.request('m', 'near', work);
  ends[1]!.resolve();
  await settled();
  ends[2]!.resolve();
  await first;
  expect(scopes).toEqual(['all', 'near', 'near']);
});

test('CoalescedRuns: runs of different keys do not wait for each other', () => {
  const { work, scopes } = controlledWork();
  const runs = new CoalescedRuns();
  void runs.request('one', 'all', work);
  void runs.request('other', 'near', work);
  expect(scopes).toEqual(['all', 'near']);
});

test('CoalescedRuns: after a failed pass all requests of the run are rejected and no further pass takes place; a later request runs', async () => {
  const { work, scopes, ends } = controlledWork();
  const runs = new CoalescedRuns();
  const requests = [runs.request('m', 'all', work), runs.request('m', 'near', work)];
  ends[0]!.reject(new Error('Redis is down'));
  for (const request of requests) await expect(request).rejects.toThrow('Redis is down');
  expect(scopes).toEqual(['all']);
  const next = runs.request('m', 'near', work);
  ends[1]!.resolve();
  await next;
  expect(scopes).toEqual(['all', 'near']);
});
