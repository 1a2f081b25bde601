// views/chain: the commits of a project in lanes, the picture of the product.
// Rows are read in pages; up to 20,000 of them are read in full, so that runs fold, words filter and the minimap shows all.
// `rows.ts` is pure; `Lanes.tsx` draws one row and knows nothing of its neighbors but the lines between them.
import './chain.css';

export { ChainView } from './Chain';
