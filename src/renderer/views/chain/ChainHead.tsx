/** The names of the columns. Assistive technology reads the values with their names in each row instead. */
export const ChainHead = ({ width, hasMinimap }: { width: number; hasMinimap: boolean }) => (
  <div className={`row chain-head${hasMinimap ? ' beside-minimap' : ''}`} aria-hidden>
    <span style={{ width }} />
    <span className="chain-words row gap-6 grow">
      <span className="chain-turn muted small">Turn</span> What
    </span>
    <span className="chain-template">Agent</span>
    <span className="chain-number chain-duration">Duration</span>
    <span className="chain-number">Tools</span>
    <span className="chain-number">Files</span>
    <span className="chain-spark" />
    <span className="chain-tokens">Tokens</span>
    <span className="chain-cost">Cost</span>
    <span className="chain-time">Time</span>
  </div>
);
