import type { LineView } from '../domain/line-view.ts';

/** All fans in the view with their positions. They are due for a message again afterwards. */
export function positionsIn<Fan>(view: LineView<Fan>): Map<Fan, number> {
  view.makeAllDue();
  return new Map(view.takeDue(0, () => 0).map(({ fan, position }) => [fan, position]));
}
