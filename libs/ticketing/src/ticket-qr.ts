import { encode, renderSVG } from 'uqr';

/** Width of the light border around the QR code, in modules (squares of the code). Scanners need four. */
export const QUIET_ZONE_MODULES = 4;
/** Width of one module (square) of the QR code. */
export const MODULE_SIZE_PIXELS = 8;

/**
 * How every QR code of a ticket is made. Error correction level M tolerates 15 % damage, for example from a scratched screen, and
 * gives at most 49×49 modules (squares). A scanner can read a code with any of the eight mask patterns. To find the one with the
 * fewest irregularities, all eight codes would be drawn and scored: 1.1 of 1.4 ms. Pattern 2 is the best one for half of our codes.
 */
export const QR_OPTIONS = { ecc: 'M', border: QUIET_ZONE_MODULES, maskPattern: 2 } as const;

/**
 * Returns the QR code of a ticket as SVG, always black on white. `crispEdges` avoids thin gaps between modules, on which cheap
 * scanners fail.
 */
export function ticketQr(code: string): string {
  const svg = renderSVG(code, {
    ...QR_OPTIONS,
    pixelSize: MODULE_SIZE_PIXELS,
    blackColor: '#000',
    whiteColor: '#fff',
  });
  return svg.replace('<svg ', '<svg role="img" aria-label="QR code of the ticket" shape-rendering="crispEdges" ');
}

/** The modules (squares) of the QR code of a ticket in rows, without the light border. True is dark. */
export type QrModules = readonly (readonly boolean[])[];

let latest: { readonly code: string; readonly modules: QrModules } | undefined;

/**
 * Returns the modules of the QR code of a ticket, the same as in `ticketQr`, but without its border: adding the border took the encoder a
 * third of its time. The latest code is kept, because a mail has each code as PDF and as PNG.
 */
export function qrModules(code: string): QrModules {
  if (latest?.code !== code) latest = { code, modules: encode(code, { ...QR_OPTIONS, border: 0 }).data };
  return latest.modules;
}
