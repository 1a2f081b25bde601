// parts: components that views share: controls, states, entries, code, Markdown, token bars, and the format of numbers.
// Text of a transcript is hostile: it is shown as text, never as markup, and no address in it is loaded.
// Parts do not know the view that uses them; they get values.
import './layout.css';
import './controls.css';
import './entry.css';
import './bars.css';
import './form.css';
import './things.css';

export { AgentMark, agentName, ExperimentalMark } from './AgentMark';
export { agentIds, agentOf, agents } from './agents';
export { blockOfEntry, blocksOf, type EntryBlock, guessHeight, heightBefore } from './blocks';
export { Button, type Icon, IconButton } from './buttons';
export { ChipMenu, type ChipOption } from './ChipMenu';
export { Code } from './Code';
export { ConfirmWrite } from './ConfirmWrite';
export { CutText } from './CutText';
export { textOfContent } from './cards';
export { commitName } from './commit-name';
export { Copyable, Facts, Id, SearchField, Select, Sheet, Switch, When } from './controls';
export { Damaged } from './Damaged';
export { DamagedMark } from './DamagedMark';
export { EntryView, ToolView } from './Entry';
export { basis, Estimate, estimatedTokens, unexplained } from './Estimate';
export { FileLines } from './FileLines';
export { Fold, Sought } from './Fold';
export { FormSheet } from './Form';
export { Gauge } from './Gauge';
export { languageOfPath } from './highlight';
export { JobLinks, useWorkedOn } from './JobLinks';
export { jobStatusWords } from './job-status';
export * from './kinds';
export { placeByKey, rowsOnPage } from './lists';
export { Markdown } from './Markdown';
export { CardButton, MenuButton, type MenuEntry, runByKey, WithContextMenu } from './Menu';
export * as say from './numbers';
export { Proof } from './Proof';
export { notifyProblem, problemOf } from './problem';
export { Received } from './Received';
export { RemoveButton } from './Remove';
export { inFolder, repositoryName, repositoryNames, shortPaths } from './repository';
export { SentCall, type ShownCall } from './SentCall';
export { Answer, Empty, Failure, Loading, ProblemLine, Unread } from './states';
export { statusNames } from './statuses';
export { TokenBar, TokenLegend } from './TokenBar';
export { textOf } from './tools';
export { edited, type ShownUsage, Window } from './Window';
export { useWidth } from './width';
