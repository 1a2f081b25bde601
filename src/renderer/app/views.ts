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

/** The views in the order of their tabs. */
export const viewNames: readonly (readonly [view: ViewName, name: string, icon: Icon, keys: string])[] = [
  ['library', 'Library', Library, 'g l'],
  ['chain', 'Chain', GitGraph, 'g c'],
  ['context', 'Context', BookOpen, 'g x'],
  ['request', 'Request', Radio, 'g q'],
  ['diff', 'Diff', GitCompare, 'g d'],
  ['replay', 'Replay', CirclePlay, 'g r'],
  ['run', 'Run again', Repeat, 'g a'],
  ['experiments', 'Experiments', FlaskConical, 'g e'],
  ['compose', 'Compose', Layers, 'g o'],
  ['timeline', 'Timeline', MessagesSquare, 'g t'],
  ['boxes', 'Boxes', Boxes, 'g b'],
  ['handover', 'Handover', ArrowRightLeft, 'g h'],
  ['reviews', 'Reviews', ListChecks, 'g v'],
  ['storage', 'Storage', HardDrive, 'g s'],
];
