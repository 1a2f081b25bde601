import {
  ArrowRightLeft,
  BookOpen,
  Boxes,
  CirclePlay,
  FlaskConical,
  GitCompare,
  GitGraph,
  HardDrive,
  Layers,
  Library,
  ListChecks,
  MessagesSquare,
  Radio,
  Repeat,
} from 'lucide-react';
import type { Icon } from '../parts';
import type { ViewName } from '../state';

type View = readonly [view: ViewName, name: string, icon: Icon, keys: string];

/** The views in the order of their tabs, in groups: what one sees, what one tries, how contexts are put together and handed on, what is kept. */
export const viewGroups: readonly (readonly View[])[] = [
  [['library', 'Library', Library, 'g l']],
  [
    ['chain', 'Chain', GitGraph, 'g c'],
    ['context', 'Context', BookOpen, 'g x'],
    ['request', 'Request', Radio, 'g q'],
    ['diff', 'Diff', GitCompare, 'g d'],
    ['replay', 'Replay', CirclePlay, 'g r'],
  ],
  [
    ['run', 'Run again', Repeat, 'g a'],
    ['experiments', 'Experiments', FlaskConical, 'g e'],
  ],
  [
    ['compose', 'Compose', Layers, 'g o'],
    ['timeline', 'Timeline', MessagesSquare, 'g t'],
    ['boxes', 'Boxes', Boxes, 'g b'],
    ['handover', 'Handover', ArrowRightLeft, 'g h'],
  ],
  [
    ['reviews', 'Reviews', ListChecks, 'g v'],
    ['storage', 'Storage', HardDrive, 'g s'],
  ],
];

export const viewNames: readonly View[] = viewGroups.flat();
