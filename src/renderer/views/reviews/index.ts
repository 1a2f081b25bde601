// views/reviews: tickets as a board, a list and what waits for somebody to start; a ticket with its findings, its
// discussion, and beside it what was understood when it was written. What is asked in a thread is answered by the providers.
// words.ts (pure) says moves, verdicts and changes; rules are the engine's, and its refusals are shown where they were met.
import './reviews.css';

export { ReviewsView } from './Reviews';
