/** Stemma's mark: a chain with two branches. */
export const Mark = () => (
  <svg
    className="mark-stemma"
    width="20"
    height="20"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    aria-hidden="true"
  >
    <path d="M6 21V5M6 15c0-5 10-3 10-9" />
    <circle cx="6" cy="3.5" r="2" />
    <circle cx="16" cy="4.5" r="2" />
    <path d="M6 19c0-4 12-2 12-7" />
    <circle cx="18" cy="10.5" r="1.6" />
  </svg>
);
