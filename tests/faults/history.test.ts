import { History, type Answer } from './history.ts';

const answer = (status: number, code: string, text = code): Answer => ({ status, code, text, replayed: false, sentAt: 0, ms: 1 });

function historyWith(...answers: Answer[]): History {
  const history = new History();
  history.requests.push({ name: 'hold', userId: 'ana', roles: undefined, path: '/', key: 'k', body: {}, answers });
  return history;
}

test.each([
  ['a 500', [answer(500, 'INTERNAL_ERROR')], /a 500/],
  ['a code that is not in the catalogue', [answer(409, 'NO_LUCK')], /not in the catalogue/],
  ['a code with another status than the catalogue has', [answer(500 + 4, 'LOCK_TIMEOUT')], /LOCK_TIMEOUT came as 504/],
  ['two different answers to one idempotency key', [answer(201, '', 'seat 1'), answer(201, '', 'seat 2')], /answered in 2 ways/],
])('history of requests: %s is reported as a fault', (_case, answers, fault) => {
  expect(historyWith(...answers).faults()).toEqual([expect.stringMatching(fault)]);
});

test('history of requests: a documented refusal, a missing answer and a repeated equal answer are no faults', () => {
  const answers = [
    answer(503, 'LOCK_TIMEOUT'),
    answer(0, 'socket hang up'),
    answer(201, '', 'seat 1'),
    answer(201, '', 'seat 1'),
  ];
  const history = historyWith(...answers);
  expect(history.faults()).toEqual([]);
  expect(history.refusals()).toEqual({ '503 LOCK_TIMEOUT': 1, 'no answer': 1 });
});
