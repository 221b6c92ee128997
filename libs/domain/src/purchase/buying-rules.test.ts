import { assertWindowOpen, type StoredWindow } from './buying-rules.ts';

const open: StoredWindow = { userId: 'ana', matchId: 'derby', isOver: false, endReason: null };
const caller = { userId: 'ana', matchId: 'derby' };

test.each<[string, StoredWindow | undefined, string | null]>([
  ['an open turn', open, null],
  ['no turn, or an unknown one', undefined, 'PURCHASE_WINDOW_REQUIRED'],
  ["another fan's turn", { ...open, userId: 'ivo' }, 'PURCHASE_WINDOW_REQUIRED'],
  ["another fan's expired turn", { ...open, userId: 'ivo', isOver: true }, 'PURCHASE_WINDOW_REQUIRED'],
  ["another match's turn", { ...open, matchId: 'cup' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['a used turn', { ...open, endReason: 'completed' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['a used and expired turn', { ...open, endReason: 'completed', isOver: true }, 'PURCHASE_WINDOW_REQUIRED'],
  ['a turn that the fan has left', { ...open, endReason: 'left' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['an expired turn', { ...open, isOver: true }, 'PURCHASE_WINDOW_EXPIRED'],
  [
    'an expired turn that the waiting room has ended',
    { ...open, isOver: true, endReason: 'window_timeout' },
    'PURCHASE_WINDOW_EXPIRED',
  ],
])('assertWindowOpen: a request with %s (%j) is refused with %s (null: accepted)', (_what, window, code) => {
  const check = () => assertWindowOpen(window, caller);
  if (code) expect(check).toThrow(expect.objectContaining({ code }));
  else expect(check).not.toThrow();
});
