import { assertWindowOpen, type KnownWindow } from './purchase-window.ts';

const open: KnownWindow = { userId: 'ana', matchId: 'derby', isOver: false, endReason: null };
const asking = { userId: 'ana', matchId: 'derby' };

test.each<[string, KnownWindow | undefined, string | null]>([
  ['an open turn', open, null],
  ['none, or an unknown one', undefined, 'PURCHASE_WINDOW_REQUIRED'],
  ["another fan's", { ...open, userId: 'ivo' }, 'PURCHASE_WINDOW_REQUIRED'],
  ["another fan's that has run out", { ...open, userId: 'ivo', isOver: true }, 'PURCHASE_WINDOW_REQUIRED'],
  ["another match's", { ...open, matchId: 'cup' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['one that is used', { ...open, endReason: 'completed' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['one that is used and over', { ...open, endReason: 'completed', isOver: true }, 'PURCHASE_WINDOW_REQUIRED'],
  ['one that was given up', { ...open, endReason: 'left' }, 'PURCHASE_WINDOW_REQUIRED'],
  ['one that has run out', { ...open, isOver: true }, 'PURCHASE_WINDOW_EXPIRED'],
  ['one the waiting room has ended', { ...open, isOver: true, endReason: 'window_timeout' }, 'PURCHASE_WINDOW_EXPIRED'],
])('%s: %s', (_what, window, code) => {
  const check = () => assertWindowOpen(window, asking);
  if (code) expect(check).toThrow(expect.objectContaining({ code }));
  else expect(check).not.toThrow();
});
