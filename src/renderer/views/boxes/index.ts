// views/boxes: cards and boxes: what there is by type, role, author and time; a box as the conversation that it is; a card
// with its JSON, the boxes that hold it, and what it was before it was changed.
// `cards.ts` (pure) says how a card looks in a row.
import './boxes.css';

export { BoxesView } from './Boxes';
