export type Rectangle = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export const defaultSize = { width: 1280, height: 800 } as const;
export const minimumSize = { width: 640, height: 480 } as const;

/**
 * Where a window opens: where it was, if enough of it is still on a screen (a screen may be gone), else in the middle.
 *
 * @param stored  what an earlier run wrote, unchecked.
 * @param areas   work areas of the screens there are now.
 */
export function openingBounds(stored: unknown, areas: readonly Rectangle[]): Partial<Rectangle> & { width: number; height: number } {
  const bounds = readRectangle(stored);
  if (bounds === null) return defaultSize;
  const size = { width: Math.max(bounds.width, minimumSize.width), height: Math.max(bounds.height, minimumSize.height) };
  const seen = areas.some(
    (area) => overlap(bounds.x, bounds.width, area.x, area.width) >= 100 && overlap(bounds.y, bounds.height, area.y, area.height) >= 100,
  );
  return seen ? { x: bounds.x, y: bounds.y, ...size } : size;
}

function overlap(a: number, aLength: number, b: number, bLength: number): number {
  return Math.min(a + aLength, b + bLength) - Math.max(a, b);
}

function readRectangle(value: unknown): Rectangle | null {
  if (typeof value !== 'object' || value === null) return null;
  const read = (name: string) => {
    const field: unknown = (value as Record<string, unknown>)[name];
    return typeof field === 'number' && Number.isInteger(field) && Math.abs(field) <= 100_000 ? field : null;
  };
  const [x, y, width, height] = [read('x'), read('y'), read('width'), read('height')];
  return x === null || y === null || width === null || height === null || width < 1 || height < 1 ? null : { x, y, width, height };
}
