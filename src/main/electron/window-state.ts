import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, type BrowserWindow, type Rectangle, screen } from 'electron';
import { replaceFile } from '../../core/files/index.js';
import { line, say } from '../terminal/index.js';

interface WindowState {
  bounds: Rectangle;
  maximized: boolean;
  /** The hash of the window's address: project, view and selection. */
  place: string;
}

const file = (): string => join(app.getPath('userData'), 'window.json');
const initial = { bounds: { width: 1440, height: 900 }, maximized: false, place: '' };

/** An address of the window without its origin. */
const isPlace = (text: unknown): text is string => typeof text === 'string' && text.startsWith('#/') && text.length < 8_000;

/** The last position of the window, if it is still on a screen, and its last address. */
export function rememberedState(): Omit<WindowState, 'bounds'> & { bounds: Partial<Rectangle> } {
  try {
    const state = JSON.parse(readFileSync(file(), 'utf8')) as WindowState;
    const { x, y, width, height } = state.bounds;
    if (![x, y, width, height].every(Number.isFinite)) return initial;
    const area = screen.getDisplayMatching(state.bounds).workArea;
    const visible = x < area.x + area.width && x + width > area.x && y >= area.y - 10 && y < area.y + area.height;
    return {
      bounds: visible ? { x, y, width: Math.min(width, area.width), height: Math.min(height, area.height) } : initial.bounds,
      maximized: state.maximized === true,
      place: isPlace(state.place) ? state.place : '',
    };
  } catch {
    // The file does not exist or cannot be read: the window opens with its default position.
    return initial;
  }
}

/** The hash of an address; empty for a window that never loaded its page. */
export const hashOf = (address: string): string => (URL.canParse(address) ? new URL(address).hash : '');

/** Saves the position and the address of the window when it closes. */
export function rememberState(window: BrowserWindow): void {
  window.on('close', () => {
    const state: WindowState = {
      bounds: window.getNormalBounds(),
      maximized: window.isMaximized(),
      place: hashOf(window.webContents.getURL()),
    };
    try {
      replaceFile(file(), JSON.stringify(state));
    } catch (error) {
      say(line`Cannot save the position of the window: ${(error as Error).message}`);
    }
  });
}
