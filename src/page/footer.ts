import { index, total } from './data.js';
import { iconButton, icons, make } from './elements.js';
import { playOrPause, select, setReplay, step, stop } from './player.js';
import { onChange, state } from './state.js';
import { clock, numberText } from './words.js';

/** The player: buttons, the scale with its marks, and the speed. */
export function makeFooter(sheet: HTMLDialogElement) {
  const scale = makeScale();
  const track = makeTrack();
  const play = iconButton(icons.play, 'Play', playOrPause);
  play.element.classList.add('primary');
  const showAll = make('button', { type: 'button', title: 'End the replay and show everything' }, 'Show all');
  showAll.addEventListener('click', () => setReplay(false));
  const help = make('button', { type: 'button', class: 'wide', title: 'Keyboard', 'aria-label': 'Keyboard' }, '?');
  help.addEventListener('click', () => sheet.showModal());
  onChange(() => {
    play.draw(state.timer ? icons.pause : icons.play, state.timer ? 'Pause' : 'Play');
    showAll.hidden = !state.isReplay;
  });
  const element = make(
    'footer',
    {},
    iconButton(icons.first, 'To the beginning', () => select(0, 'start')).element,
    iconButton(icons.back, 'Back one entry', () => step(-1)).element,
    play.element,
    iconButton(icons.forward, 'Forward one entry', () => step(1)).element,
    make('div', { class: 'track' }, track.element, scale),
    makePlace(),
    makeSpeed(),
    showAll,
    help,
  );
  return { element, scale, drawTrack: track.draw };
}

function makeScale(): HTMLInputElement {
  const scale = make('input', { type: 'range', min: '0', max: String(Math.max(0, total - 1)), value: '0', 'aria-label': 'Place in the session' });
  scale.addEventListener('input', () => {
    const at = Number(scale.value);
    stop();
    select(at);
  });
  // The scale handles the keys that move it.
  scale.addEventListener('keydown', (event) => /^(Arrow|Home|End|Page)/.test(event.key) && event.stopPropagation());
  onChange(() => {
    scale.value = String(state.at);
    scale.setAttribute('aria-valuetext', `Entry ${state.at + 1} of ${total}`);
  });
  return scale;
}

function makePlace(): HTMLElement {
  const place = make('output', {});
  onChange(() => {
    const time = index.times[state.at];
    place.replaceChildren(
      `${numberText(state.at + 1)} of ${numberText(total)}`,
      ...(time ? [make('span', { class: 'when' }, ` · ${clock.format(time)}`)] : []),
    );
  });
  return place;
}

function makeSpeed(): HTMLElement {
  const speeds = make(
    'select',
    { 'aria-label': 'Speed', title: 'Speed' },
    ...['0.5', '1', '2', '5', '20'].map((speed) => make('option', { value: speed, selected: speed === '1' }, `${speed}×`)),
  );
  speeds.addEventListener('change', () => {
    state.speed = Number(speeds.value);
  });
  return speeds;
}

/** The entries that have a mark, the class whose color it has, and its width. */
const marks = [
  { kinds: 'u', color: 'u', width: 1 },
  { kinds: 'e', color: 'e', width: 1 },
  { kinds: 'cb', color: 's', width: 2 },
];

/** Marks of prompts, errors, compactions and branches above the scale. */
function makeTrack() {
  const element = make('canvas', { 'aria-hidden': 'true' });
  const swatch = make('i', { hidden: true });
  const draw = (): void => {
    if (!swatch.isConnected) document.body.append(swatch);
    const ratio = window.devicePixelRatio || 1;
    element.width = element.clientWidth * ratio;
    element.height = element.clientHeight * ratio;
    const context = element.getContext('2d');
    if (!context) return;
    for (const { kinds, color, width } of marks) {
      swatch.className = `swatch ${color}`;
      context.fillStyle = getComputedStyle(swatch).color;
      for (let at = 0; at < total; at++)
        if (kinds.includes(index.kinds[at] ?? ''))
          context.fillRect((at / Math.max(1, total - 1)) * element.width - width / 2, 0, width * ratio, element.height);
    }
  };
  return { element, draw };
}
