// parts: components that views share: controls, states, entries, code, Markdown, token bars, and the format of numbers.
// Text of a transcript is hostile: it is shown as text and not as markup, and no address in it is loaded (test/attacks).
// Parts do not know the view that uses them; they get values.
import './layout.css';
import './controls.css';
import './entry.css';
import './bars.css';
import './form.css';
import './things.css';

export { agents, findAgent } from './agents';
export { blockOfEntry, type EntryBlock, groupIntoBlocks, guessHeight, heightBefore, useBlockKeys, useEntriesOfBlocks } from './blocks';
export { Button, type Icon, IconButton, LinkButton, sendAtEnter, sending } from './buttons';
export { Code } from './Code';
export { type Canvas, useDrawing } from './canvas';
export { Checkbox, ConfirmWrite, Copyable, Facts, Id, Input, SearchField, Select, Setting, Sheet, Switch, TextArea, When } from './controls';
export { Damaged, DamagedMark, RepairButton } from './Damaged';
export { EntryView, ToolView } from './Entry';
export { basis, Estimate, estimatedTokens, unexplained } from './Estimate';
export { FileLines } from './FileLines';
export { CutText, DetailsOnDemand, Fold, FoldedText, Sought } from './Fold';
export { FormSheet } from './Form';
export { type Stretch, stretchesOf } from './file-lines';
export { languageOfPath } from './highlight';
export { JobLinks, Received, useWorkedOn } from './jobs';
export * from './kinds';
export { MeasuredRows, placeByKey, rowsOnPage, selectByKey, toggled, useVirtualRows, type VirtualRows } from './lists';
export { Markdown } from './Markdown';
export { CardButton, ChipMenu, MenuButton, type MenuEntry, RemoveButton, runByKey, WithContextMenu } from './Menu';
export { AgentMark, agentName, ExperimentalMark, Gauge, Proof } from './marks';
export * as say from './numbers';
export { attempt, describeProblem, notifyProblem, reloadAndSay } from './problem';
export { inFolder, repositoryName, repositoryNames, shortPaths } from './repository';
export { SentCall, SentMessages, type ShownCall } from './SentCall';
export { Answer, Empty, Failure, Loading, ProblemLine, TaskProblem, Unread } from './states';
export { TokenBar, TokenLegend } from './TokenBar';
export { showValue } from './tools';
export { edited, type ShownUsage, Window } from './Window';
export { commitName, jobStatusWords, namesIn, statusNames, textOfContent } from './words';
