// views/boxes: cards by type, role, author and time; boxes as conversations.
// A card shows its JSON, the boxes that contain it, and its earlier versions.
// `cards.ts` (pure) computes how cards look.
import './boxes.css';

export { BoxesView as View } from './Boxes';
