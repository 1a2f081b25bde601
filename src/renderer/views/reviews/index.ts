// views/reviews: tickets as a board, as a list, and the starts that are waiting; one ticket with findings and discussion.
// Beside a ticket is the context of its author. Providers answer questions in a thread.
// words.ts and filter.ts are pure. The engine holds the rules; its refusals are shown where they happen.
import './reviews.css';

export { ReviewsView as View } from './Reviews';
