import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { seatSpacing } from './seat-layout.ts';

/** The smallest seat that a tap or click may choose: 24 px for a finger (WCAG 2.2, criterion 2.5.8), 12 px for a mouse. */
const minTouchSeatPx = 24;
const minMouseSeatPx = 12;
/** The maximum size of a seat when zoomed in: a larger seat would not be clearer. */
const maxSeatPx = 44;
/** The maximum size of a seat when the whole sector is shown, so that a small sector does not fill a wide screen. */
const maxOverviewSeatPx = 26;
const zoomStep = 1.6;

/** Zooms by changing the drawing's width inside a scrolling frame, so that the browser handles pinching, panning and scrollbars. */
export function useZoom(frame: RefObject<HTMLDivElement | null>, layout: { width: number; height: number }) {
  const [frameSize, setFrameSize] = useState({ width: 320, height: 420 });
  const [factor, setFactor] = useState(1);
  const centre = useRef({ x: 0.5, y: 0.5 });

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => {
      const maxHeight = Number.parseFloat(getComputedStyle(element).maxHeight);
      setFrameSize({ width: element.clientWidth, height: Number.isFinite(maxHeight) ? maxHeight : 420 });
    };
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);

  const fittingWidth = Math.min(
    frameSize.width,
    (frameSize.height * layout.width) / layout.height,
    (maxOverviewSeatPx / seatSpacing) * layout.width,
  );
  const width = fittingWidth * factor;
  const seatPx = (width / layout.width) * seatSpacing;
  const minSeatPx = matchMedia('(pointer: coarse)').matches ? minTouchSeatPx : minMouseSeatPx;
  const maxFactor = Math.max(1, (maxSeatPx / seatSpacing) * (layout.width / fittingWidth));

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const { x, y } = centre.current;
    element.scrollLeft = x * element.scrollWidth - element.clientWidth / 2;
    element.scrollTop = y * element.scrollHeight - element.clientHeight / 2;
  }, [frame, factor]);

  const zoomTo = (next: number, newCentre?: { x: number; y: number }) => {
    const element = frame.current;
    centre.current = newCentre ?? {
      x: element ? (element.scrollLeft + element.clientWidth / 2) / element.scrollWidth : 0.5,
      y: element ? (element.scrollTop + element.clientHeight / 2) / element.scrollHeight : 0.5,
    };
    setFactor(Math.min(maxFactor, Math.max(1, next)));
  };

  const zoomToPoint = (clientX: number, clientY: number) => {
    const drawing = frame.current?.firstElementChild?.getBoundingClientRect();
    if (!drawing) return;
    const newCentre = { x: (clientX - drawing.left) / drawing.width, y: (clientY - drawing.top) / drawing.height };
    zoomTo((factor * minSeatPx * 1.25) / seatPx, newCentre);
  };

  return {
    width,
    canChooseSeats: seatPx >= minSeatPx,
    canGoIn: factor < maxFactor - 0.01,
    canGoOut: factor > 1.01,
    in: () => zoomTo(factor * zoomStep),
    out: () => zoomTo(factor / zoomStep),
    reset: () => zoomTo(1, { x: 0.5, y: 0.5 }),
    zoomToPoint,
  };
}
