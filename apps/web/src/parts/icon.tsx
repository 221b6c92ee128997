type IconName = 'info' | 'check' | 'attention' | 'back' | 'to' | 'more';

const drawings: Record<IconName, string> = {
  info: 'M8 7v5M8 4v.01',
  check: 'M3.5 8.5l3 3 6-7',
  attention: 'M8 3.5V9M8 12v.01',
  back: 'M10 3 5 8l5 5',
  to: 'M2 8h11M9 4l4 4-4 4',
  more: 'M3 6l5 5 5-5',
};

/** An icon, drawn as SVG because many fonts have no arrows and ticks. Always use it beside a text with the same meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="sign" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  );
}
