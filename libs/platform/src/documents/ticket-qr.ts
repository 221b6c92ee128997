import { renderSVG } from 'uqr';

/** Rows of light modules around the code; scanners need four to find it. */
export const QUIET_ZONE_MODULES = 4;
export const MODULE_SIZE = 8;

/**
 * The code as a picture, dark on white whatever the page's colours. Level M survives a scratched screen (15 %) at 49×49
 * modules; crisp edges, because a hair of white between neighbouring modules is what cheap scanners trip over.
 */
export function ticketQr(code: string): string {
  const svg = renderSVG(code, {
    ecc: 'M',
    border: QUIET_ZONE_MODULES,
    pixelSize: MODULE_SIZE,
    blackColor: '#000',
    whiteColor: '#fff',
  });
  return svg.replace('<svg ', '<svg role="img" aria-label="QR code of the ticket" shape-rendering="crispEdges" ');
}
