import { encode, renderSVG } from 'uqr';

/** Width of the light border around the QR code, in modules (squares of the code). Scanners need four. */
export const QUIET_ZONE_MODULES = 4;
/** Width of one module (square) of the QR code. */
export const MODULE_SIZE_PIXELS = 8;

/**
 * Returns the QR code of a ticket as SVG, always black on white. Error correction level M tolerates 15 % damage, for example from
 * a scratched screen, and gives at most 49×49 modules (squares). `crispEdges` avoids thin gaps between modules, on which cheap
 * scanners fail.
 */
export function ticketQr(code: string): string {
  const svg = renderSVG(code, {
    ecc: 'M',
    border: QUIET_ZONE_MODULES,
    pixelSize: MODULE_SIZE_PIXELS,
    blackColor: '#000',
    whiteColor: '#fff',
  });
  return svg.replace('<svg ', '<svg role="img" aria-label="QR code of the ticket" shape-rendering="crispEdges" ');
}

/** The modules (squares) of the QR code of a ticket in rows, with the light border. True is dark. */
export type QrModules = readonly (readonly boolean[])[];

let latest: { readonly code: string; readonly modules: QrModules } | undefined;

/**
 * Returns the modules of the QR code of a ticket, the same as in `ticketQr`. The latest code is kept, because a mail has each code as
 * PDF and as PNG, and 1.4 of the 1.9 ms for an image are spent here.
 */
export function qrModules(code: string): QrModules {
  if (latest?.code !== code) latest = { code, modules: encode(code, { ecc: 'M', border: QUIET_ZONE_MODULES }).data };
  return latest.modules;
}
