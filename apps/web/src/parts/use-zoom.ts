import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { spacing } from './seat-layout.ts';

/** A seat must be this large on screen before a tap may choose it: 24 px for a finger (WCAG 2.2, 2.5.8), 12 for a mouse. */
const fingerPx = 24;
const mousePx = 12;
/** Beyond this a sector does not get clearer, only larger. */
const largestPx = 44;
/** The whole sector never needs seats larger than this, also on a wide screen. */
const roomyPx = 26;
const step = 1.6;

interface Zoom {
  width: number;
  isReachable: boolean;
  canGoIn: boolean;
  canGoOut: boolean;
  in: () => void;
  out: () => void;
  whole: () => void;
  comeCloser: (clientX: number, clientY: number) => void;
}

/** Zoom by changing the drawing's width inside a scrolling frame: pinching, panning and scrollbars stay the browser's own. */
export function useZoom(frame: RefObject<HTMLDivElement | null>, size: { width: number; height: number }): Zoom {
  const [space, setSpace] = useState({ width: 320, height: 420 });
  const [factor, setFactor] = useState(1);
  const keepInMiddle = useRef({ x: 0.5, y: 0.5 });

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => {
      const maxHeight = Number.parseFloat(getComputedStyle(element).maxHeight);
      setSpace({ width: element.clientWidth, height: Number.isFinite(maxHeight) ? maxHeight : 420 });
    };
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);

  const fit = Math.min(space.width, (space.height * size.width) / size.height, (roomyPx / spacing) * size.width);
  const width = fit * factor;
  const seatPx = (width / size.width) * spacing;
  const needed = matchMedia('(pointer: coarse)').matches ? fingerPx : mousePx;
  const largest = Math.max(1, (largestPx / spacing) * (size.width / fit));

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const { x, y } = keepInMiddle.current;
    element.scrollLeft = x * element.scrollWidth - element.clientWidth / 2;
    element.scrollTop = y * element.scrollHeight - element.clientHeight / 2;
  }, [frame, factor]);

  const zoomTo = (next: number, middle?: { x: number; y: number }) => {
    const element = frame.current;
    keepInMiddle.current = middle ?? {
      x: element ? (element.scrollLeft + element.clientWidth / 2) / element.scrollWidth : 0.5,
      y: element ? (element.scrollTop + element.clientHeight / 2) / element.scrollHeight : 0.5,
    };
    setFactor(Math.min(largest, Math.max(1, next)));
  };

  const comeCloser = (clientX: number, clientY: number) => {
    const drawing = frame.current?.firstElementChild?.getBoundingClientRect();
    if (!drawing) return;
    const middle = { x: (clientX - drawing.left) / drawing.width, y: (clientY - drawing.top) / drawing.height };
    zoomTo((factor * needed * 1.25) / seatPx, middle);
  };

  return {
    width,
    isReachable: seatPx >= needed,
    canGoIn: factor < largest - 0.01,
    canGoOut: factor > 1.01,
    in: () => zoomTo(factor * step),
    out: () => zoomTo(factor / step),
    whole: () => zoomTo(1, { x: 0.5, y: 0.5 }),
    comeCloser,
  };
}
