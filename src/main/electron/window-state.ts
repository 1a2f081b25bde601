import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, type BrowserWindow, type Rectangle, screen } from 'electron';

interface WindowState {
  bounds: Rectangle;
  maximized: boolean;
}

const file = (): string => join(app.getPath('userData'), 'window.json');
const initial = { width: 1440, height: 900 };

/** Where the window was last, where that is still on a screen. */
export function rememberedState(): { bounds: Partial<Rectangle>; maximized: boolean } {
  try {
    const state = JSON.parse(readFileSync(file(), 'utf8')) as WindowState;
    const { x, y, width, height } = state.bounds;
    if (![x, y, width, height].every(Number.isFinite)) return { bounds: initial, maximized: false };
    const area = screen.getDisplayMatching(state.bounds).workArea;
    const visible = x < area.x + area.width && x + width > area.x && y >= area.y - 10 && y < area.y + area.height;
    return {
      bounds: visible ? { x, y, width: Math.min(width, area.width), height: Math.min(height, area.height) } : initial,
      maximized: state.maximized === true,
    };
  } catch {
    // Never written, or not readable: the window opens as the first one did.
    return { bounds: initial, maximized: false };
  }
}

/** Writes down where the window is when it closes. */
export function rememberState(window: BrowserWindow): void {
  window.on('close', () => {
    const state: WindowState = { bounds: window.getNormalBounds(), maximized: window.isMaximized() };
    try {
      writeFileSync(file(), JSON.stringify(state));
    } catch (error) {
      console.error(`The window's place was not remembered: ${(error as Error).message}`);
    }
  });
}
